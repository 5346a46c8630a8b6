"""OpenTelemetry: a span for each generating request, and the GenAI metrics, exported with OTLP over HTTP.

All names are in this module, since the semantic conventions for generative AI are still in development. Other settings
are read from OpenTelemetry's own environment variables, such as OTEL_SERVICE_NAME and OTEL_EXPORTER_OTLP_HEADERS.
Exporters run in threads of their own.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.propagate import extract
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import MetricReader, PeriodicExportingMetricReader
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import SpanKind, Status, StatusCode

from specvino.server.operations.exchange import Exchange

logger = logging.getLogger("specvino.server")

# The conventions' names of generating operations.
_OPERATIONS = {
    "chat": "chat",
    "completions": "text_completion",
    "responses": "chat",
    "messages": "chat",
    "ollama_chat": "chat",
    "ollama_generate": "text_completion",
}

_SECOND = 1_000_000_000

# The buckets that the conventions recommend.
_DURATION = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
_FIRST_TOKEN = (0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0)
_OUTPUT_TOKEN = (0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0, 2.5)


@dataclass(frozen=True, slots=True)
class Exports:
    """The endpoints for spans and metrics; None disables them."""

    spans: SpanProcessor | None = None
    metrics: MetricReader | None = None

    @classmethod
    def to(cls, traces: str | None, metrics: str | None) -> "Exports":
        """Returns the exports to a collector's URLs, such as http://127.0.0.1:4318/v1/traces."""
        spans = BatchSpanProcessor(OTLPSpanExporter(endpoint=traces)) if traces else None
        reader = PeriodicExportingMetricReader(OTLPMetricExporter(endpoint=metrics)) if metrics else None
        return cls(spans, reader)


class OpenTelemetry:
    """Records a span and measurements for each exchange that requested a generation from one of the `models`."""

    def __init__(self, exports: Exports, models: Sequence[str]) -> None:
        ours = Resource.create({"service.name": "specvino", "service.version": version("specvino")})
        resource = ours.merge(OTELResourceDetector().detect())
        self._only = models[0] if len(models) == 1 else None
        self._traces = TracerProvider(resource=resource, shutdown_on_exit=False)
        self._metrics = MeterProvider(
            [exports.metrics] if exports.metrics else [], resource=resource, shutdown_on_exit=False
        )
        if exports.spans:
            self._traces.add_span_processor(exports.spans)
        self._spans = exports.spans is not None
        self._tracer = self._traces.get_tracer("specvino")
        meter = self._metrics.get_meter("specvino")
        self._duration = meter.create_histogram(
            "gen_ai.server.request.duration",
            "s",
            "Seconds from a request to the end of its answer.",
            explicit_bucket_boundaries_advisory=_DURATION,
        )
        self._first_token = meter.create_histogram(
            "gen_ai.server.time_to_first_token",
            "s",
            "Seconds from a request to its first token.",
            explicit_bucket_boundaries_advisory=_FIRST_TOKEN,
        )
        self._per_output_token = meter.create_histogram(
            "gen_ai.server.time_per_output_token",
            "s",
            "Mean seconds between two tokens of a request's choices.",
            explicit_bucket_boundaries_advisory=_OUTPUT_TOKEN,
        )

    def record(self, exchange: Exchange) -> None:
        """Measures an exchange, and traces it as a part of its client's trace if the request names that."""
        operation = exchange.operation and _OPERATIONS.get(exchange.operation.endpoint)
        if not operation:
            return
        error = _error(exchange)
        common: dict[str, Any] = {"gen_ai.operation.name": operation, "gen_ai.provider.name": "specvino"}
        # With several models, a request refused before its model was looked up has none.
        if model := exchange.model or self._only:
            common["gen_ai.request.model"] = model
        self._measure(exchange, common | ({"error.type": error} if error else {}))
        if self._spans:
            self._trace(exchange, f"{operation} {model}" if model else operation, common, error)

    def close(self) -> None:
        """Flushes pending data, and blocks until that is done."""
        self._traces.shutdown()
        self._metrics.shutdown()

    def _measure(self, exchange: Exchange, attributes: Mapping[str, Any]) -> None:
        self._duration.record(exchange.seconds, attributes)
        generation = exchange.generation
        if generation is None or "error.type" in attributes:
            return
        if generation.first_token is not None:
            self._first_token.record(generation.first_token, attributes)
        if generation.per_output_token is not None:
            self._per_output_token.record(generation.per_output_token, attributes)

    def _trace(self, exchange: Exchange, name: str, common: Mapping[str, Any], error: str | None) -> None:
        attributes = {**common, **_http(exchange), **_generation(exchange)}
        if error:
            attributes["error.type"] = error
        span = self._tracer.start_span(
            name, extract(exchange.headers), SpanKind.SERVER, attributes, start_time=exchange.began
        )
        if exchange.generation and exchange.generation.first_token is not None:
            seconds = exchange.generation.first_token
            span.add_event("gen_ai.first_token", timestamp=exchange.began + round(seconds * _SECOND))
        if error and exchange.status >= 500:  # HTTP conventions: a client's mistake isn't a server error
            span.set_status(Status(StatusCode.ERROR))
        span.end(exchange.began + round(exchange.seconds * _SECOND))


def _error(exchange: Exchange) -> str | None:
    if exchange.error:
        return exchange.error
    return exchange.generation.error if exchange.generation else None


def _http(exchange: Exchange) -> dict[str, Any]:
    return {
        "http.request.method": exchange.method,
        "http.route": exchange.route or "",
        "http.response.status_code": exchange.status,
        "specvino.request_id": exchange.request_id,
    }


def _generation(exchange: Exchange) -> dict[str, Any]:
    generation = exchange.generation
    if generation is None:
        return {}
    attributes: dict[str, Any] = {
        "gen_ai.request.temperature": generation.temperature,
        "gen_ai.request.top_p": generation.top_p,
        "gen_ai.request.max_tokens": generation.max_tokens,
        "gen_ai.request.choice.count": generation.n,
        "gen_ai.usage.input_tokens": generation.prompt_tokens,
        "gen_ai.usage.output_tokens": generation.completion_tokens,
        "gen_ai.response.finish_reasons": generation.outcomes,
        # vLLM's name.
        "gen_ai.latency.time_to_first_token": generation.first_token,
    }
    return {name: value for name, value in attributes.items() if value is not None}
