"""Spans and GenAI metrics, as an exporter gets them."""

import json
from typing import Any

import pytest
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from specvino.generated.handlers import OPERATIONS
from specvino.handlers.measuring import GenerationRecord
from specvino.server.operations.exchange import Exchange
from specvino.server.telemetry.opentelemetry import Exports, OpenTelemetry

BEGAN = 1_000_000_000_000


class Exported:
    """What a server's collector has got so far."""

    def __init__(self) -> None:
        self._spans = InMemorySpanExporter()
        self._reader = InMemoryMetricReader()
        self.telemetry = OpenTelemetry(Exports(SimpleSpanProcessor(self._spans), self._reader), ["m"])

    def span(self, exchange: Exchange) -> ReadableSpan:
        self.telemetry.record(exchange)
        (span,) = self._spans.get_finished_spans()
        return span

    @property
    def spans(self) -> int:
        return len(self._spans.get_finished_spans())

    def points(self) -> dict[str, Any]:
        data = self._reader.get_metrics_data()
        resources = data.resource_metrics if data else ()
        metrics = [metric for resource in resources for scope in resource.scope_metrics for metric in scope.metrics]
        return {metric.name: metric.data.data_points for metric in metrics}


@pytest.fixture
def exported():
    collected = Exported()
    yield collected
    collected.telemetry.close()


def exchange(operation: str = "create_chat_completion", status: int = 200, **members: Any) -> Exchange:
    made = Exchange("req_1", "127.0.0.1:5", "POST", "/v1" + OPERATIONS[operation].path, {}, BEGAN, status, 2.0, True)
    made.operation = OPERATIONS[operation]
    for name, value in members.items():
        setattr(made, name, value)
    return made


def generated(**members: Any) -> dict[str, GenerationRecord]:
    usual: dict[str, Any] = {
        "prompt_tokens": 7,
        "completion_tokens": 3,
        "first_token": 0.5,
        "last_token": 1.5,
        "outcomes": ["stop"],
    }
    return {"generation": GenerationRecord(1, 1, 9, 0.5, 1.0, **usual | members)}


def test_a_span_says_what_was_asked_and_measured(exported) -> None:
    span = exported.span(exchange(notes=generated()))
    assert (span.name, span.kind, span.parent) == ("chat m", SpanKind.SERVER, None)
    assert (span.start_time, span.end_time) == (BEGAN, BEGAN + 2_000_000_000)
    assert [(event.name, event.timestamp) for event in span.events] == [("gen_ai.first_token", BEGAN + 500_000_000)]
    assert span.status.status_code is StatusCode.UNSET
    assert json.loads(json.dumps(dict(span.attributes or {}))) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "specvino",
        "gen_ai.request.model": "m",
        "http.request.method": "POST",
        "http.route": "/v1/chat/completions",
        "http.response.status_code": 200,
        "specvino.request_id": "req_1",
        "gen_ai.request.temperature": 0.5,
        "gen_ai.request.top_p": 1.0,
        "gen_ai.request.max_tokens": 9,
        "gen_ai.request.choice.count": 1,
        "gen_ai.usage.input_tokens": 7,
        "gen_ai.usage.output_tokens": 3,
        "gen_ai.response.finish_reasons": ["stop"],
        "gen_ai.latency.time_to_first_token": 0.5,
    }
    assert span.resource.attributes["service.name"] == "specvino"


def test_a_span_is_part_of_the_client_s_trace(exported) -> None:
    header = f"00-{'a' * 32}-{'b' * 16}-01"
    span = exported.span(exchange(headers={"traceparent": header}))
    assert f"{span.context.trace_id:x}" == "a" * 32
    assert f"{span.parent.span_id:x}" == "b" * 16


@pytest.mark.parametrize("header", ["", "00-zz-1-01", "x" * 9000, "\x00"])
def test_a_wrong_trace_is_none(exported, header) -> None:
    assert exported.span(exchange(headers={"traceparent": header})).parent is None


def test_a_client_that_wants_no_trace_has_none(exported) -> None:
    exported.telemetry.record(exchange(headers={"traceparent": f"00-{'a' * 32}-{'b' * 16}-00"}))
    assert exported.spans == 0


@pytest.mark.parametrize(("status", "code"), [(400, StatusCode.UNSET), (503, StatusCode.ERROR)])
def test_errors(exported, status, code) -> None:
    span = exported.span(exchange(status=status, error="some_code"))
    assert span.attributes["error.type"] == "some_code"
    assert span.status.status_code is code
    points = exported.points()
    assert points.keys() == {"gen_ai.server.request.duration"}
    assert points["gen_ai.server.request.duration"][0].attributes["error.type"] == "some_code"


def test_the_metrics_of_a_server(exported) -> None:
    exported.telemetry.record(exchange(notes=generated()))
    exported.telemetry.record(exchange("create_completion", notes=generated(first_token=None)))
    points = exported.points()
    measured = {
        (name, point.attributes["gen_ai.operation.name"]): (point.count, point.sum)
        for name, series in points.items()
        for point in series
    }
    assert measured == {
        ("gen_ai.server.request.duration", "chat"): (1, 2.0),
        ("gen_ai.server.request.duration", "text_completion"): (1, 2.0),
        ("gen_ai.server.time_to_first_token", "chat"): (1, 0.5),
        ("gen_ai.server.time_per_output_token", "chat"): (1, 0.5),
    }
    assert points["gen_ai.server.time_to_first_token"][0].explicit_bounds[0] == 0.001


def test_what_generates_nothing_is_not_traced(exported) -> None:
    for operation in ("get_health", "list_models", "retrieve_response"):
        exported.telemetry.record(exchange(operation))
    unknown = exchange()
    unknown.operation = None
    exported.telemetry.record(unknown)
    assert exported.spans == 0
    assert exported.points() == {}


def test_the_environment_names_the_service(monkeypatch) -> None:
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment=test")
    monkeypatch.setenv("OTEL_SERVICE_NAME", "mine")
    collected = Exported()
    span = collected.span(exchange())
    assert span.resource.attributes["service.name"] == "mine"
    assert span.resource.attributes["deployment.environment"] == "test"
    collected.telemetry.close()
