"""Traces go through Ray's proxies."""

import httpx
from support.collector import collecting
from support.replicas import SCRIPTED, deployed
from support.serving import PATIENCE


def test_the_span_of_a_replica_belongs_to_the_trace_of_its_client() -> None:
    with collecting() as collector:
        options = ("--replicas", "2", "--otlp-traces-endpoint", f"{collector.url}/v1/traces")
        with deployed(*SCRIPTED, *options) as server:
            traces = [f"{number:032x}" for number in range(1, 9)]
            for trace in traces:
                headers = {"traceparent": f"00-{trace}-{'b' * 16}-01", "x-session-id": trace}
                body = {"model": "m", "messages": [{"role": "user", "content": "hello"}]}
                answer = httpx.post(f"{server.url}/chat/completions", json=body, headers=headers, timeout=PATIENCE)
                assert answer.status_code == 200
            assert server.stop() == 0
    spans = {span.trace_id.hex(): (span.name, span.parent_span_id.hex()) for span in collector.spans()}
    assert spans == dict.fromkeys(traces, ("chat m", "b" * 16))
