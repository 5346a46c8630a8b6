"""The metrics: vLLM's names where they are vLLM's figures, and figures that are true."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families
from structure.imports import PROJECT

from specvino.engine.protocol import EngineStats
from specvino.engine.scripted import ScriptedEngine
from specvino.engine.segments import Phases
from specvino.generated.handlers import OPERATIONS
from specvino.handlers.measuring import GenerationRecord
from specvino.server.operations.exchange import Exchange
from specvino.server.telemetry.prometheus import Metrics

VLLM = yaml.safe_load(Path(__file__).with_name("vllm_metrics.yaml").read_text("utf-8"))
DASHBOARD = PROJECT / "docs" / "grafana-dashboard.json"


class Engine(ScriptedEngine):
    def stats(self) -> EngineStats:
        return EngineStats(
            "ready", running=2, waiting=5, restarts=1, cache_usage=0.25, cache_tokens=640, accepted_drafts=8
        )


@pytest.fixture
def metrics() -> Metrics:
    engine = Engine()
    engine.generated_tokens = 42
    return Metrics({"m": engine})


def families(metrics: Metrics) -> dict[str, Any]:
    parsed = text_string_to_metric_families(generate_latest(metrics.registry).decode())
    return {family.name: family for family in parsed if not family.name.endswith("_created")}


def value(metrics: Metrics, name: str, **labels: str) -> float | None:
    return metrics.registry.get_sample_value(name, labels)


def exchange(operation: str | None, path: str, status: int = 200, **members: Any) -> Exchange:
    made = Exchange("r", "", "POST", path, {}, 0, status, 0.25, True, **members)
    made.operation = OPERATIONS[operation] if operation else None
    return made


OURS = {"model_name": "m", "engine": "0"}


def test_names_under_vllm_s_prefix_are_vllm_s_with_their_types_and_labels(metrics) -> None:
    of_vllm = {name: family for name, family in families(metrics).items() if name.startswith("vllm:")}
    assert len(of_vllm) > 10
    for name, family in of_vllm.items():
        assert family.type == VLLM[name]["type"], name
        labels = set().union(*(sample.labels for sample in family.samples)) - {"le"}
        assert labels == set(VLLM[name]["labels"]), name


def test_what_is_not_vllm_s_says_so(metrics) -> None:
    others = {name.partition(":")[0] for name in families(metrics) if ":" in name}
    assert others == {"vllm", "specvino"}
    assert not {name.replace("specvino:", "vllm:") for name in families(metrics) if name.startswith("specvino:")} & set(
        VLLM
    )


def test_what_the_engine_does(metrics) -> None:
    assert value(metrics, "vllm:num_requests_running", **OURS) == 2
    assert value(metrics, "vllm:num_requests_waiting", **OURS) == 5
    assert value(metrics, "vllm:kv_cache_usage_perc", **OURS) == 0.25
    assert value(metrics, "specvino:kv_cache_tokens", **OURS) == 640
    assert value(metrics, "vllm:spec_decode_num_accepted_tokens_total", **OURS) == 8
    assert value(metrics, "vllm:generation_tokens_total", **OURS) == 42
    assert value(metrics, "specvino:engine_restarts_total", **OURS) == 1
    states = ("loading", "ready", "restarting", "closed")
    gauges = [value(metrics, "specvino:engine_state", **OURS, state=state) for state in states]
    assert gauges == [0, 1, 0, 0]


def test_a_generation(metrics) -> None:
    metrics.of("m").first_token(0.25)
    metrics.of("m").later_token(0.125)
    metrics.of("m").later_token(0.125)
    metrics.of("m").ended(GenerationRecord(1, 2, 9, 1, 1, 7, 5, 0, 0, 0.25, 0.75, 1.5, ["stop", "length"]))
    metrics.of("m").ended(GenerationRecord(1, 1, None, 1, 1, prompt_tokens=3, ended=0.5, outcomes=["abort"]))
    assert value(metrics, "vllm:prompt_tokens_total", **OURS) == 10
    for reason, count in {"stop": 1, "length": 1, "abort": 1, "error": 0}.items():
        assert value(metrics, "vllm:request_success_total", **OURS, finished_reason=reason) == count
    for name, count, total in (
        ("vllm:request_prompt_tokens", 2, 10),
        ("vllm:request_generation_tokens", 1, 5),
        ("vllm:request_params_n", 2, 2),
        ("vllm:request_params_max_tokens", 1, 9),
        ("vllm:time_to_first_token_seconds", 1, 0.25),
        ("vllm:inter_token_latency_seconds", 2, 0.25),
        ("vllm:request_time_per_output_token_seconds", 1, 1 / 3),
        ("vllm:e2e_request_latency_seconds", 2, 2),
    ):
        assert value(metrics, f"{name}_count", **OURS) == count, name
        assert value(metrics, f"{name}_sum", **OURS) == pytest.approx(total), name


def test_what_nobody_knows_is_not_shown() -> None:
    shown = families(Metrics({"m": ScriptedEngine()}))
    assert "specvino:kv_cache_tokens" not in shown
    assert "vllm:spec_decode_num_accepted_tokens" not in shown


def test_the_phases_of_a_generation(metrics) -> None:
    record = GenerationRecord(1, 1, 9, 1, 1, phases=Phases(queue=0.5, prefill=0.25, decode=2.0))
    metrics.of("m").ended(record)
    metrics.of("m").ended(GenerationRecord(1, 1, 9, 1, 1))
    for name, total in (("queue", 0.5), ("prefill", 0.25), ("decode", 2.0), ("inference", 2.25)):
        assert value(metrics, f"vllm:request_{name}_time_seconds_count", **OURS) == 1, name
        assert value(metrics, f"vllm:request_{name}_time_seconds_sum", **OURS) == total, name


def test_exchanges_count_by_route_and_kind_of_status(metrics) -> None:
    metrics.record(exchange("retrieve_response", "/v1/responses/resp_1"))
    metrics.record(exchange("retrieve_response", "/v1/responses/resp_2", 404, error="response_not_found"))
    labels = {"method": "POST", "handler": "/v1/responses/{response_id}"}
    assert value(metrics, "http_requests_total", **labels, status="2xx") == 1
    assert value(metrics, "http_requests_total", **labels, status="4xx") == 1
    assert value(metrics, "http_request_duration_seconds_count", **labels) == 2
    assert value(metrics, "specvino:request_errors_total", code="response_not_found") == 1


def test_strangers_can_t_make_more_series(metrics) -> None:
    for number in range(100):
        metrics.record(exchange(None, f"/v1/{number}", 404, error="not_found"))
    assert value(metrics, "http_requests_total", method="POST", handler="none", status="4xx") == 100
    assert len(families(metrics)["http_requests"].samples) == 1


def test_monitors_don_t_count(metrics) -> None:
    metrics.record(exchange("get_health", "/health"))
    assert families(metrics)["http_requests"].samples == []


def test_an_error_inside_a_stream_counts(metrics) -> None:
    record = GenerationRecord(1, 1, 9, 1, 1, error="engine_restarted")
    metrics.record(exchange("create_chat_completion", "/v1/chat/completions", notes={"generation": record}))
    assert value(metrics, "specvino:request_errors_total", code="engine_restarted") == 1


def queries() -> list[str]:
    dashboard = json.loads(DASHBOARD.read_text("utf-8"))
    return [target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", ())]


def test_the_dashboard_reads_this_server_and_vllm(metrics) -> None:
    """Its queries name metrics that both have, but for those that say that they are ours."""
    ours = {sample.name for family in families(metrics).values() for sample in family.samples}
    ours |= {"specvino:request_errors_total", "http_requests_total"}  # no sample before the first request
    suffixes = {"gauge": [""], "counter": ["_total"], "histogram": ["_bucket", "_sum", "_count"]}
    theirs = {f"{name}{end}" for name, entry in VLLM.items() for end in suffixes[entry["type"]]} | {
        "http_requests_total"
    }
    named = {name for query in queries() for name in re.findall(r"\b(?:\w+:\w+|http_\w+)", query)}
    assert len(named) > 10
    assert named <= ours
    assert {name for name in named if not name.startswith("specvino:")} <= theirs


def test_the_dashboard_can_be_imported() -> None:
    dashboard = json.loads(DASHBOARD.read_text("utf-8"))
    assert {variable["name"] for variable in dashboard["templating"]["list"]} == {"datasource", "model"}
    ids = [panel["id"] for panel in dashboard["panels"]]
    assert len(ids) == len(set(ids))
    for panel in dashboard["panels"]:
        if panel["type"] != "row":
            assert panel["datasource"]["uid"] == "${datasource}"
            assert panel["title"]
            assert panel["description"]
    for query in queries():
        if "vllm:" in query:
            assert 'model_name=~"$model"' in query
