"""Prometheus' metrics, under vLLM's names where it has the same figure, and under `specvino:` where it has not.

Dashboards, alerts and autoscalers that are made for vLLM read this server by that. What the engine is doing is asked
when somebody reads the metrics, the rest is counted when it happens.
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
"""The tag of operations that monitors call all the time; vLLM's HTTP metrics leave them out as well."""


class Metrics:
    """Holds the metrics of a server, whose `engines` are given by their models' names. It `record`s exchanges."""

    def __init__(self, engines: Mapping[str, Engine]) -> None:
        self.registry = CollectorRegistry()
        self.registry.register(_EngineCollector(engines))
        ProcessCollector(registry=self.registry)
        generations = GenerationMetrics(self.registry)
        self._models = {model: ModelMetrics(generations, model) for model in engines}
        self._errors = Counter(
            "specvino:request_errors",
            "Requests that ended with an error, by its code.",
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
        """Returns what observes the generations of this model."""
        return self._models[model]

    def record(self, exchange: Exchange) -> None:
        """Counts an exchange."""
        generation = exchange.generation
        if error := exchange.error or (generation and generation.error):
            self._errors.labels(error).inc()
        operation = exchange.operation
        if operation is not None and operation.tag == _UNCOUNTED:
            return
        # A label for each path that somebody tries would be without end.
        handler = exchange.route or "none"
        self._requests.labels(exchange.method, f"{exchange.status // 100}xx", handler).inc()
        self._durations.labels(exchange.method, handler).observe(exchange.seconds)


class _EngineCollector(Collector):
    """Asks the engines what they do now."""

    def __init__(self, engines: Mapping[str, Engine]) -> None:
        self._engines = engines

    def collect(self) -> Iterator[Metric]:
        stats = {model: engine.stats() for model, engine in self._engines.items()}
        yield _gauge(
            "vllm:num_requests_running",
            "Sequences that are being generated.",
            {model: each.running for model, each in stats.items()},
        )
        yield _gauge(
            "vllm:num_requests_waiting",
            "Sequences that wait for a place.",
            {model: each.waiting for model, each in stats.items()},
        )
        yield _gauge(
            "vllm:kv_cache_usage_perc",
            "The share of the KV cache that running sequences hold, 0 to 1.",
            {model: each.cache_usage for model, each in stats.items()},
        )
        if cache_tokens := {model: each.cache_tokens for model, each in stats.items() if each.cache_tokens is not None}:
            yield _gauge("specvino:kv_cache_tokens", "Tokens that fit into the KV cache.", cache_tokens)
        if drafts := {model: each.accepted_drafts for model, each in stats.items() if each.accepted_drafts is not None}:
            yield _counter(
                "vllm:spec_decode_num_accepted_tokens",
                "Generated tokens that speculative decoding had drafted.",
                drafts,
            )
        yield _counter(
            "vllm:generation_tokens",
            "Tokens that were generated.",
            {model: engine.generated_tokens for model, engine in self._engines.items()},
        )
        yield _counter(
            "specvino:engine_restarts",
            "Child processes of the engine that were lost and replaced.",
            {model: each.restarts for model, each in stats.items()},
        )
        states = GaugeMetricFamily(
            "specvino:engine_state", "1 for the state that the engine is in.", labels=(*LABELS, "state")
        )
        for model, each in stats.items():
            for state in get_args(State):
                states.add_metric((*labels_of(model), state), state == each.state)
        yield states


def _gauge(name: str, documentation: str, values: Mapping[str, float]) -> Metric:
    return _with(GaugeMetricFamily(name, documentation, labels=LABELS), values)


def _counter(name: str, documentation: str, values: Mapping[str, float]) -> Metric:
    return _with(CounterMetricFamily(name, documentation, labels=LABELS), values)


def _with(family: GaugeMetricFamily | CounterMetricFamily, values: Mapping[str, float]) -> Metric:
    for model, value in values.items():
        family.add_metric(labels_of(model), value)
    return family
