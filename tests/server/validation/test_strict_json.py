"""What is not strict JSON is refused, saying why."""

import json

import pytest

from specvino.generated.errors import ErrorCode
from specvino.handlers.errors import ApiError
from specvino.server.validation.strict_json import parse

REFUSED = {
    "malformed": (b'{"a": }', "line 1, column 7"),
    "cut off": (b'{"a": 1', "line 1"),
    "two values": (b"{} {}", "column 4"),
    "not utf-8": (b'{"a": "\xff"}', "byte 7"),
    "utf-8 surrogate": (b'{"a": "\xed\xa0\x80"}', "not UTF-8"),
    "utf-16": ('{"a": 1}'.encode("utf-16"), "not UTF-8"),
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
        parse(raw)
    assert caught.value.code is ErrorCode.INVALID_JSON
    assert reason in caught.value.message


@pytest.mark.parametrize("raw", [b"", b" \n\t"])
def test_empty(raw) -> None:
    with pytest.raises(ApiError) as caught:
        parse(raw)
    assert caught.value.code is ErrorCode.MISSING_BODY


@pytest.mark.parametrize(
    "value",
    [{"a": [1, -2.5e10, None, True]}, {"é": "你好 🎉 \x00"}, {"a": 10**4000}, {"a": {"a": {"a": 1}}}, [], "x", 0],
)
def test_accepted(value) -> None:
    assert parse(json.dumps(value).encode()) == value
    assert parse(json.dumps(value, ensure_ascii=False).encode()) == value


def test_a_backslash_before_something_like_an_escape_is_no_surrogate() -> None:
    assert parse(rb'{"a": "\\ud800"}') == {"a": r"\ud800"}
