"""What is tokenized, and which fields mean something beside it."""

from typing import Any

import pytest

from specvino.generated.models import TokenizeRequest
from specvino.handlers.tokens import form_of, without_effect


def body(**fields: Any) -> TokenizeRequest:
    return TokenizeRequest.model_validate({"model": "m", **fields})


@pytest.mark.parametrize(
    ("fields", "form"),
    [
        ({"text": "a"}, "text"),
        ({"text": "a", "prompt": None}, "text"),
        ({"text": "a", "prompt": "b"}, "prompt"),
        ({"prompt": "b", "content": "c"}, "content"),
        ({"content": "c", "messages": [{"role": "user"}]}, "messages"),
    ],
)
def test_the_first_that_is_given_counts(fields: dict[str, Any], form: str) -> None:
    assert form_of(body(**fields)) == form


@pytest.mark.parametrize(
    ("fields", "several", "ignored"),
    [
        ({"text": "a", "max_length": 1, "add_special_tokens": True}, False, []),
        ({"text": "a", "parse_special": True, "tools": []}, False, ["parse_special", "tools"]),
        ({"text": "a", "return_token_strs": True}, False, []),
        ({"text": ["a", "b"], "return_token_strs": True, "with_pieces": False}, True, ["return_token_strs"]),
        ({"messages": [{"role": "user"}], "text": "a", "max_length": 1}, False, ["text", "max_length"]),
        ({"content": "a", "add_special_tokens": True, "add_special": True}, False, ["add_special_tokens"]),
    ],
)
def test_what_means_nothing_is_told(fields: dict[str, Any], several: bool, ignored: list[str]) -> None:
    request = body(**fields)
    assert sorted(without_effect(request, form_of(request), several=several)) == sorted(ignored)
