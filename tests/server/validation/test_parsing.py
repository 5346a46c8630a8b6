"""The JSON of bodies, and the parameters of query strings, as values."""

import json
from urllib.parse import urlencode

import pytest

from specvino.generated.errors import ErrorCode
from specvino.generated.handlers import QueryParameter
from specvino.handlers.errors import ApiError
from specvino.server.validation.parsing import parse_json, parse_query

REFUSED = {
    "malformed": (b'{"a": }', "line 1, column 7"),
    "cut off": (b'{"a": 1', "line 1"),
    "two values": (b"{} {}", "column 4"),
    "not utf-8": (b'{"a": "\xff"}', "byte 7"),
    "utf-8 surrogate": (b'{"a": "\xed\xa0\x80"}', "invalid UTF-8"),
    "utf-16": ('{"a": 1}'.encode("utf-16"), "invalid UTF-8"),
    "NaN": (b'{"a": NaN}', "NaN"),
    "infinity": (b'{"a": -Infinity}', "-Infinity"),
    "1e400": (b'{"a": 1e400}', "1e400"),
    "lone surrogate": (b'{"a": "\\ud800"}', "surrogate"),
    "lone surrogate in a key": (b'{"\\uDFFF": 1}', "surrogate"),
    "duplicate keys": (b'{"a": 1, "b": 2, "a": 3}', "'a'"),
    "duplicate keys inside": (b'[{"x": {"k": 1, "k": 1}}]', "'k'"),
    "5,000 digits": (b'{"a": ' + b"1" * 5000 + b"}", "digits"),
    "100,000 deep": (b"[" * 100_000, "deep"),
    "100,000 deep and whole": (b"[" * 100_000 + b"]" * 100_000, "deep"),
    "byte order mark": (b"\xef\xbb\xbf{}", "line 1"),
}


@pytest.mark.parametrize(("raw", "reason"), REFUSED.values(), ids=REFUSED)
def test_refused(raw, reason) -> None:
    with pytest.raises(ApiError) as caught:
        parse_json(raw)
    assert caught.value.code is ErrorCode.INVALID_JSON
    assert reason in caught.value.message


@pytest.mark.parametrize("raw", [b"", b" \n\t"])
def test_empty(raw) -> None:
    with pytest.raises(ApiError) as caught:
        parse_json(raw)
    assert caught.value.code is ErrorCode.MISSING_BODY


@pytest.mark.parametrize(
    "value",
    [{"a": [1, -2.5e10, None, True]}, {"é": "你好 🎉 \x00"}, {"a": 10**4000}, {"a": {"a": {"a": 1}}}, [], "x", 0],
)
def test_accepted(value) -> None:
    assert parse_json(json.dumps(value).encode()) == value
    assert parse_json(json.dumps(value, ensure_ascii=False).encode()) == value


def test_a_backslash_before_something_like_an_escape_is_no_surrogate() -> None:
    assert parse_json(rb'{"a": "\\ud800"}') == {"a": r"\ud800"}


KNOWN = {
    "text": QueryParameter("string", None),
    "count": QueryParameter("integer", 1),
    "flag": QueryParameter("boolean", False),
    "list": QueryParameter("array", None),
}


@pytest.mark.parametrize(
    ("raw", "values"),
    [
        (b"", {}),
        (b"text=1&count=1&flag=true", {"text": "1", "count": 1, "flag": True}),
        (b"count=-3&flag=false", {"count": -3, "flag": False}),
        (b"text=a+b%20%C3%A9&text=", {"text": ""}),
        (b"text=a+b%20%C3%A9", {"text": "a b é"}),
        (b"list=a&list=b", {"list": ["a", "b"]}),
        (b"list[]=a&list%5B%5D=b&list[2]=c", {"list": ["a", "b", "c"]}),
        (b"other=1&text[]=x", {"other": "1", "text[]": "x"}),
    ],
)
def test_values(raw, values) -> None:
    assert parse_query(raw, KNOWN) == values


@pytest.mark.parametrize("text", ["", "1.0", "one", "1e3", "+1", " 1", "1" * 50, "\u0661"])
def test_what_is_no_integer_stays_a_text(text) -> None:
    assert parse_query(urlencode({"count": text}).encode(), KNOWN) == {"count": text}


@pytest.mark.parametrize("text", ["", "1", "True", "yes", "null"])
def test_what_is_no_boolean_stays_a_text(text) -> None:
    assert parse_query(f"flag={text}".encode(), KNOWN) == {"flag": text}
