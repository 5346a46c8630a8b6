"""Prometheus metrics, under vLLM's names where it has the same metric, and under `specvino:` otherwise.

Dashboards, alerts and autoscalers made for vLLM work with this server. The engine's state is collected when the metrics
are scraped; the rest is counted as it happens.
"""

from collections.abc import Iterator, Mapping
from typing import get_args

from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from specvino.engine.protocol import Engine, State
from specvino.server.operations.exchange import Exchange
from specvino.server.telemetry.generation_metrics import LABELS, GenerationMetrics, ModelMetrics, labels_of

# The buckets of vLLM.
_HTTP_SECONDS = (0.1, 0.5, 1)

_UNCOUNTED = "service"
"""The tag of operations that monitoring calls all the time; vLLM's HTTP metrics exclude them as well."""


class Metrics:
    """The metrics of a server. `engines` are keyed by their models' names."""

    def __init__(self, engines: Mapping[str, Engine]) -> None:
        self.registry = CollectorRegistry()
        self.registry.register(_EngineCollector(engines))
        ProcessCollector(registry=self.registry)
        generations = GenerationMetrics(self.registry)
        self._models = {model: ModelMetrics(generations, model) for model in engines}
        self._errors = Counter(
            "specvino:request_errors",
            "Requests that ended with an error, by error code.",
            ("code",),
            registry=self.registry,
        )
        self._requests = Counter(
            "http_requests", "Number of HTTP requests.", ("method", "status", "handler"), registry=self.registry
        )
        self._durations = Histogram(
            "http_request_duration_seconds",
            "Time until the last byte of an answer, in seconds.",
            ("method", "handler"),
            buckets=_HTTP_SECONDS,
            registry=self.registry,
        )

    def of(self, model: str) -> ModelMetrics:
        """Returns the observer of this model's generations."""
        return self._models[model]

    def record(self, exchange: Exchange) -> None:
        """Counts an exchange."""
        generation = exchange.generation
        if error := exchange.error or (generation and generation.error):
            self._errors.labels(error).inc()
        operation = exchange.operation
        if operation is not None and operation.tag == _UNCOUNTED:
            return
        # A label per requested path would be unbounded.
        handler = exchange.route or "none"
        self._requests.labels(exchange.method, f"{exchange.status // 100}xx", handler).inc()
        self._durations.labels(exchange.method, handler).observe(exchange.seconds)


class _EngineCollector(Collector):
    """Collects the current state of the engines."""

    def __init__(self, engines: Mapping[str, Engine]) -> None:
        self._engines = engines

    def collect(self) -> Iterator[Metric]:
        stats = {model: engine.stats() for model, engine in self._engines.items()}
        yield _gauge(
            "vllm:num_requests_running",
            "Sequences being generated.",
            {model: stat.running for model, stat in stats.items()},
        )
        yield _gauge(
            "vllm:num_requests_waiting",
            "Sequences waiting to be generated.",
            {model: stat.waiting for model, stat in stats.items()},
        )
        yield _gauge(
            "vllm:kv_cache_usage_perc",
            "The fraction of the KV cache used by running sequences, 0 to 1.",
            {model: stat.cache_usage for model, stat in stats.items()},
        )
        if cache_tokens := {model: stat.cache_tokens for model, stat in stats.items() if stat.cache_tokens is not None}:
            yield _gauge("specvino:kv_cache_tokens", "Capacity of the KV cache, in tokens.", cache_tokens)
        if drafts := {model: stat.accepted_drafts for model, stat in stats.items() if stat.accepted_drafts is not None}:
            yield _counter(
                "vllm:spec_decode_num_accepted_tokens",
                "Accepted draft tokens of speculative decoding.",
                drafts,
            )
        yield _counter(
            "vllm:generation_tokens",
            "Generated tokens.",
            {model: engine.generated_tokens for model, engine in self._engines.items()},
        )
        yield _counter(
            "specvino:engine_restarts",
            "Child processes of the engine that were replaced.",
            {model: stat.restarts for model, stat in stats.items()},
        )
        states = GaugeMetricFamily(
            "specvino:engine_state", "1 for the current state of the engine.", labels=(*LABELS, "state")
        )
        for model, stat in stats.items():
            for state in get_args(State):
                states.add_metric((*labels_of(model), state), state == stat.state)
        yield states


def _gauge(name: str, documentation: str, values: Mapping[str, float]) -> Metric:
    return _with(GaugeMetricFamily(name, documentation, labels=LABELS), values)


def _counter(name: str, documentation: str, values: Mapping[str, float]) -> Metric:
    return _with(CounterMetricFamily(name, documentation, labels=LABELS), values)


def _with(family: GaugeMetricFamily | CounterMetricFamily, values: Mapping[str, float]) -> Metric:
    for model, value in values.items():
        family.add_metric(labels_of(model), value)
    return family
