"""The chunks of a stream that have a role."""

import json

import pytest
from support.reports import exchange

from specvino.conformance.dialect import Dialect
from specvino.conformance.http.exchange import Request
from specvino.conformance.rules.streaming import EventShape, RoleOnce, StreamEnd
from specvino.document.loading import whole
from specvino.document.pointers import at


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


@pytest.mark.parametrize(
    ("endpoint", "media"), [("chat", "text~1event-stream"), ("ollama_chat", "application~1x-ndjson")]
)
def test_the_schema_of_events_is_that_of_the_endpoint_s_streams(endpoint: str, media: str) -> None:
    dialect = Dialect("specvino")
    assert EventShape(dialect).spec(endpoint).endswith(f"/responses/200/content/{media}/itemSchema")
    at(whole(), EventShape(dialect).spec(endpoint))


def test_a_stream_of_lines_ends_with_a_whole_line() -> None:
    request = Request("ollama_generate", "POST", "//api/generate", {}, b"", {"prompt": "a"})
    headers = {"content-type": "application/x-ndjson"}
    ends = [exchange(request=request, content=content, headers=headers) for content in (b"{}\n", b"{}\n{")]
    assert [list(StreamEnd(Dialect("specvino")).violations(end)) for end in ends] == [
        [],
        ["the stream ends inside an event"],
    ]
