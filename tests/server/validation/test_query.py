"""Query strings become values."""

from urllib.parse import urlencode

import pytest

from specvino.generated.handlers import QueryParameter
from specvino.server.validation.query import parse

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
    assert parse(raw, KNOWN) == values


@pytest.mark.parametrize("text", ["", "1.0", "one", "1e3", "+1", " 1", "1" * 50, "\u0661"])
def test_what_is_no_integer_stays_a_text(text) -> None:
    assert parse(urlencode({"count": text}).encode(), KNOWN) == {"count": text}


@pytest.mark.parametrize("text", ["", "1", "True", "yes", "null"])
def test_what_is_no_boolean_stays_a_text(text) -> None:
    assert parse(f"flag={text}".encode(), KNOWN) == {"flag": text}
