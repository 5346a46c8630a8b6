"""The rule about usage, on single answers."""

import json
from typing import Any

import pytest
from support.reports import exchange

from specvino.conformance.dialect import Dialect
from specvino.conformance.http.exchange import Request
from specvino.conformance.rules.usage import UsageAddsUp


@pytest.mark.parametrize(("content", "found"), [
    ("Hi", ["prompt_tokens is 0, though there was a prompt"]),
    ([{"type": "text", "text": "Hi"}], ["prompt_tokens is 0, though there was a prompt"]),
    ([{"type": "hologram", "hologram": {"size": 2}}], []),
    ("", []),
])  # fmt: skip
def test_a_prompt_has_tokens_unless_the_server_may_not_know_its_parts(content: Any, found: list[str]) -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": content}]}
    usage = {"prompt_tokens": 0, "completion_tokens": 1, "total_tokens": 1}
    message = {"role": "assistant", "content": "Hello"}
    answer = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": usage}
    answered = exchange(
        request=Request("chat", "POST", "/chat/completions", {}, b"", body),
        content=json.dumps(answer).encode(),
        headers={"content-type": "application/json"},
    )
    assert list(UsageAddsUp(Dialect("openai")).violations(answered)) == found
