"""What is sent to a model that refuses fields."""

import pytest

from specvino.conformance.dialect import Dialect
from specvino.conformance.session.refused_fields import RefusedFields

REFUSED = RefusedFields(
    Dialect("specvino"), {"max_tokens": "max_completion_tokens", "temperature": None, "frequency_penalty": None}
)

HELLO = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}


@pytest.mark.parametrize(
    ("fields", "sent"),
    [
        ({"max_tokens": 3, "temperature": 0.5}, {"max_completion_tokens": 3}),
        ({"max_tokens": None}, {"max_completion_tokens": None}),
        ({"max_tokens": 3, "max_completion_tokens": 4}, {"max_completion_tokens": 4}),
        ({"max_tokens": -1, "temperature": "warm"}, {"max_tokens": -1, "temperature": "warm"}),
    ],
)
def test_refused_fields_are_replaced(fields, sent) -> None:
    assert REFUSED.replaced("/chat/completions", {**HELLO, **fields}) == {**HELLO, **sent}


def test_fields_stay_where_there_is_no_other() -> None:
    body = {"model": "m", "prompt": "Hi", "max_tokens": 3}
    assert REFUSED.replaced("/completions", body) == body
    assert REFUSED.replaced_text("/completions", b'{"max_tokens": 3') == b'{"max_tokens": 3'
    assert REFUSED.replaced_text("/chat/completions", b'{"max_tokens": 3') == b'{"max_completion_tokens": 3'
    assert REFUSED.replaced("/chat/completions", [HELLO]) == [HELLO]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"max_tokens": 3}, {"max_completion_tokens": 3}),
        ({"max_tokens": 3, "stream": "yes"}, {"max_completion_tokens": 3, "stream": "yes"}),
        ({"frequency_penalty": 0.5}, {}),
        # A beam search excludes penalties.
        ({"best_of": 2, "frequency_penalty": 0.5}, {"best_of": 2, "frequency_penalty": 0.5}),
    ],
)
def test_an_invalid_body_stays_invalid(before, after) -> None:
    assert REFUSED.replaced_alike("chat", {**HELLO, **before}) == {**HELLO, **after}
