"""The chunks of a stream that have a role."""

import json

import pytest
from support.reports import exchange

from specvino.conformance.dialect import Dialect
from specvino.conformance.http.exchange import Request
from specvino.conformance.rules.streaming import RoleOnce


@pytest.mark.parametrize(("roles", "violations"), [(1, []), (2, ["choice 0 has its role in 2 chunks"])])
def test_a_choice_has_its_role_once(roles: int, violations: list[str]) -> None:
    request = Request("chat", "POST", "/chat/completions", {}, b"", {"messages": [], "stream": True})
    chunks = [
        {"choices": [{"index": 0, "delta": {"role": "assistant", "content": "a"}, "finish_reason": None}]}
        for _ in range(roles)
    ]
    content = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"
    came = exchange(request=request, content=content.encode(), headers={"content-type": "text/event-stream"})
    assert list(RoleOnce(Dialect("ovms")).violations(came)) == violations
