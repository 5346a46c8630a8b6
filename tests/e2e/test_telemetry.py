"""The server seen from outside, on the real engine: metrics, the access log, OpenTelemetry's exports."""

import json
import re
from collections.abc import Iterator

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families
from support.collector import collecting
from support.serving import PATIENCE, Server, endless, serving, wait_until
from support.serving_here import serving_here

SECRET = "xylophone"


def ask(server: Server, **fields) -> httpx.Response:
    body = {"model": "tiny", "messages": [{"role": "user", "content": SECRET}], "max_tokens": 5, "ignore_eos": True}
    return httpx.post(f"{server.url}/chat/completions", json=body | fields, timeout=PATIENCE)


def metrics(url: str, **labels: str) -> dict[str, float]:
    """The value of each metric whose labels are those, by name."""
    page = httpx.get(f"{url}/metrics", timeout=PATIENCE)
    assert page.status_code == 200, page.text
    return {
        sample.name: sample.value
        for family in text_string_to_metric_families(page.text)
        for sample in family.samples
        if labels.items() <= sample.labels.items()
    }


def root(server: Server) -> str:
    return server.url.removesuffix("/v1")


@pytest.fixture(scope="module")
def model(tiny_text, tmp_path_factory):
    return endless(tiny_text, tmp_path_factory.mktemp("telemetry") / "tiny")


@pytest.fixture(scope="module")
def server(model) -> Iterator[Server]:
    with serving(str(model), "--served-model-name", "tiny", "--log-format", "json", "--metrics-port", "0") as server:
        yield server


@pytest.fixture(scope="module")
def page(server) -> str:
    """The URL of the server's metrics."""
    match = re.search(r"^specvino: metrics are at (http://\S+)/metrics$", server.output, re.MULTILINE)
    assert match
    return match[1]


def logged(server: Server, request_id: str) -> dict[str, object]:
    """The line of a request, once it is there."""
    wait_until(lambda: f'"{request_id}"' in server.output)
    lines = (json.loads(line) for line in server.output.splitlines() if f'"{request_id}"' in line)
    return next(line for line in lines if line["request_id"] == request_id)


def test_the_figures_are_those_of_the_answers(server, page) -> None:
    before = metrics(page)
    usages = [ask(server, n=2).json()["usage"], ask(server).json()["usage"]]
    after = metrics(page)

    def more(name: str) -> float:
        return after[name] - before[name]

    assert more("vllm:prompt_tokens_total") == sum(usage["prompt_tokens"] for usage in usages)
    assert more("vllm:request_generation_tokens_sum") == sum(usage["completion_tokens"] for usage in usages) == 15
    assert more("vllm:generation_tokens_total") == 15
    assert more("vllm:time_to_first_token_seconds_count") == 2
    assert more("vllm:e2e_request_latency_seconds_count") == 2
    finished = {
        reason: metrics(page, finished_reason=reason)["vllm:request_success_total"]
        for reason in ("stop", "length", "abort", "error")
    }
    assert finished["length"] >= 3
    assert metrics(page, state="ready")["specvino:engine_state"] == 1


def test_what_runs_is_seen_while_it_runs_and_when_its_client_left(server, page) -> None:
    body = {"model": "tiny", "prompt": SECRET, "max_tokens": 300_000, "ignore_eos": True, "stream": True}
    aborts = metrics(page, finished_reason="abort")["vllm:request_success_total"]
    with httpx.stream(
        "POST", f"{server.url}/completions", json=body, headers={"x-request-id": "left"}, timeout=PATIENCE
    ) as answer:
        lines = answer.iter_lines()  # kept: without it the answer would be closed
        next(lines)
        wait_until(lambda: metrics(page)["vllm:num_requests_running"] == 1)
        wait_until(lambda: metrics(page)["vllm:kv_cache_usage_perc"] > 0)
        tokens = metrics(page)["vllm:generation_tokens_total"]
        wait_until(lambda: metrics(page)["vllm:generation_tokens_total"] > tokens)
    wait_until(lambda: metrics(page)["vllm:num_requests_running"] == 0)
    wait_until(lambda: metrics(page)["vllm:kv_cache_usage_perc"] == 0)
    assert metrics(page, finished_reason="abort")["vllm:request_success_total"] == aborts + 1
    line = logged(server, "left")
    assert (line["status"], line["complete"], line["finish_reason"]) == (200, False, ["abort"])


def test_the_log_has_figures_and_no_texts(server) -> None:
    usage = ask(server, user=SECRET, metadata={"k": SECRET}).json()["usage"]
    headers = {"x-request-id": "mine", "authorization": f"Bearer {SECRET}", "user-agent": SECRET}
    body = {"model": SECRET, "messages": [{"role": "user", "content": SECRET}]}
    httpx.post(f"{server.url}/chat/completions?q={SECRET}", json=body, headers=headers, timeout=PATIENCE)
    line = logged(server, "mine")
    assert (line["path"], line["status"], line["error"]) == ("/v1/chat/completions", 404, "model_not_found")
    lines = [json.loads(line) for line in server.output.splitlines() if line.startswith("{")]
    assert any(
        line.get("prompt_tokens") == usage["prompt_tokens"] and line.get("completion_tokens") == 5 for line in lines
    )
    assert SECRET not in server.output


def test_the_metrics_of_a_port_of_its_own_are_not_beside_the_api(server) -> None:
    assert httpx.get(f"{root(server)}/metrics", timeout=PATIENCE).status_code == 404


def test_keys(tmp_path) -> None:
    (tmp_path / "api").write_text("key-of-the-api\n")
    (tmp_path / "metrics").write_text("key-of-the-metrics\n")
    keys = ("--api-key-file", str(tmp_path / "api"), "--metrics-key-file", str(tmp_path / "metrics"))
    with serving("--engine", "scripted", *keys) as server:
        statuses = [
            httpx.get(
                f"{root(server)}/metrics", headers={"authorization": f"Bearer {key}"}, timeout=PATIENCE
            ).status_code
            for key in ("key-of-the-metrics", "key-of-the-api")
        ]
        assert statuses == [200, 401]
        assert httpx.get(f"{server.url}/models", headers={"authorization": "Bearer key-of-the-api"}).status_code == 200
        # The log is text by default. Its last line may come after the answer.
        wait_until(lambda: " INFO specvino.access: 127.0.0.1:" in server.output)
        assert "key-of" not in server.output


def test_exports_reach_a_collector_before_the_server_ends() -> None:
    with collecting() as collector:
        ends = [f"--otlp-{kind}-endpoint={collector.url}/v1/{kind}" for kind in ("traces", "metrics")]
        with serving("--engine", "scripted", "--served-model-name", "tiny", *ends) as server:
            headers = {"traceparent": f"00-{'a' * 32}-{'b' * 16}-01"}
            body = {"model": "tiny", "messages": [{"role": "user", "content": SECRET}]}
            answer = httpx.post(f"{server.url}/chat/completions", json=body, headers=headers, timeout=PATIENCE)
            assert answer.status_code == 200
            assert server.stop() == 0
    assert [(span.name, span.trace_id.hex()) for span in collector.spans()] == [("chat tiny", "a" * 32)]
    assert "gen_ai.server.time_to_first_token" in collector.metrics()
    assert SECRET.encode() not in b"".join(body for bodies in collector.got.values() for body in bodies)


def test_a_collector_that_is_not_there_hurts_nobody() -> None:
    with serving_here("--engine", "scripted", "--otlp-traces-endpoint", "http://127.0.0.1:9/v1/traces") as server:
        body = {"model": "scripted", "prompt": "hi"}
        assert httpx.post(f"{server.url}/completions", json=body, timeout=PATIENCE).status_code == 200
