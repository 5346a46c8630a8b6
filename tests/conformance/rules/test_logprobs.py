"""Logprobs, whichever request asked for them."""

import json

import pytest
from support.reports import exchange

from specvino.conformance.dialect import Dialect
from specvino.conformance.http.exchange import Exchange, Request
from specvino.conformance.rules.logprobs import LogprobsJoin


def with_tokens(*tokens: str) -> Exchange:
    """A completion of `The sky` with these tokens."""
    request = Request("completions", "POST", "/completions", {}, b"", {"prompt": "Say", "logprobs": 1})
    logprobs = {"tokens": tokens, "token_logprobs": [-0.5] * len(tokens)}
    answer = {"choices": [{"index": 0, "text": "The sky", "logprobs": logprobs, "finish_reason": "stop"}]}
    return exchange(request=request, content=json.dumps(answer).encode(), headers={"content-type": "application/json"})


@pytest.mark.parametrize("dialect", ["openai", "mlc-llm"])
def test_tokens_join_where_they_are_shown_whole(dialect: str) -> None:
    rule = LogprobsJoin(Dialect(dialect))
    assert not list(rule.violations(with_tokens("The", " sky")))
    wrong = list(rule.violations(with_tokens("The", "sea")))
    assert wrong == ([] if dialect == "mlc-llm" else ["the tokens join to 'Thesea', but the text is 'The sky'"])
