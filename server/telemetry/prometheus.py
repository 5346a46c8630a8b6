"""Prometheus' metrics, under vLLM's names where it has the same figure, and under `specvino:` where it has not.

Dashboards, alerts and autoscalers that are made for vLLM read this server by that. What the engine is doing is asked
when somebody reads the metrics, the rest is counted when it happens.
"""

from collections.abc import Iterable, Iterator
from typing import get_args

from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from specvino.engine.protocol import Engine, State
from specvino.handlers.measuring import GenerationRecord, Outcome
from specvino.server.telemetry import buckets
from specvino.server.telemetry.exchange import Exchange
from specvino.server.telemetry.quick_histogram import QuickHistogram

_LABELS = ("model_name", "engine")
_UNCOUNTED = "service"
"""The tag of operations that monitors call all the time; vLLM's HTTP metrics leave them out as well."""


class Metrics:
    """Holds the metrics of one engine, whose model is served as `model`. It observes generations, and `record`s
    exchanges."""

    def __init__(self, engine: Engine, model: str) -> None:
        self.registry = CollectorRegistry()
        self.registry.register(_EngineCollector(engine, model))
        ProcessCollector(registry=self.registry)
        self._labels = (model, "0")
        self._prompt_tokens = self._counter(
            "vllm:prompt_tokens", "Tokens in the prompts of requests that were admitted."
        )
        success = Counter(
            "vllm:request_success",
            "Choices that have ended, by how they did.",
            (*_LABELS, "finished_reason"),
            registry=self.registry,
        )
        self._outcomes = {outcome: success.labels(*self._labels, outcome) for outcome in get_args(Outcome)}
        self._request_prompt = self._histogram(
            "vllm:request_prompt_tokens", "Tokens in the prompts of a request.", buckets.TOKENS
        )
        self._request_generation = self._histogram(
            "vllm:request_generation_tokens", "Tokens that a request got.", buckets.TOKENS
        )
        self._n = self._histogram(
            "vllm:request_params_n", "Choices for each prompt that a request asked for.", buckets.CHOICES
        )
        self._max_tokens = self._histogram(
            "vllm:request_params_max_tokens", "The token limit that a request set.", buckets.TOKENS
        )
        self._first_token = self._histogram(
            "vllm:time_to_first_token_seconds", "Seconds from a request to its first token.", buckets.FIRST_TOKEN
        )
        self._later_token = QuickHistogram(
            "vllm:inter_token_latency_seconds",
            "Seconds between two tokens of a choice.",
            _LABELS,
            self._labels,
            buckets.LATER_TOKEN,
        )
        self.registry.register(self._later_token)
        self._per_output_token = self._histogram(
            "vllm:request_time_per_output_token_seconds",
            "Mean seconds between two tokens of a request's choices.",
            buckets.LATER_TOKEN,
        )
        self._whole = self._histogram(
            "vllm:e2e_request_latency_seconds", "Seconds from a request to the end of its answer.", buckets.LATENCY
        )
        self._queue = self._histogram(
            "vllm:request_queue_time_seconds", "Seconds that a request waited for a place.", buckets.LATENCY
        )
        self._prefill = self._histogram(
            "vllm:request_prefill_time_seconds", "Seconds from a request's place to its first token.", buckets.LATENCY
        )
        self._decode = self._histogram(
            "vllm:request_decode_time_seconds", "Seconds from a request's first token to its last.", buckets.LATENCY
        )
        self._inference = self._histogram(
            "vllm:request_inference_time_seconds", "Seconds for which a request had a place.", buckets.LATENCY
        )
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
            buckets=buckets.HTTP,
            registry=self.registry,
        )

    def first_token(self, seconds: float) -> None:
        """Implements `Observer`."""
        self._first_token.observe(seconds)

    def later_token(self, seconds: float) -> None:
        """Implements `Observer`."""
        self._later_token.observe(seconds)

    def ended(self, record: GenerationRecord) -> None:
        """Implements `Observer`."""
        self._prompt_tokens.inc(record.prompt_tokens)
        self._request_prompt.observe(record.prompt_tokens)
        self._n.observe(record.n)
        self._whole.observe(record.ended)
        for outcome in record.outcomes:
            self._outcomes[outcome].inc()
        if record.max_tokens is not None:
            self._max_tokens.observe(record.max_tokens)
        if record.completion_tokens is not None:
            self._request_generation.observe(record.completion_tokens)
        if record.per_output_token is not None:
            self._per_output_token.observe(record.per_output_token)
        if (phases := record.phases) is not None:
            self._queue.observe(phases.queue)
            self._prefill.observe(phases.prefill)
            self._decode.observe(phases.decode)
            self._inference.observe(phases.prefill + phases.decode)

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

    def _counter(self, name: str, documentation: str) -> Counter:
        return Counter(name, documentation, _LABELS, registry=self.registry).labels(*self._labels)

    def _histogram(self, name: str, documentation: str, bounds: Iterable[float]) -> Histogram:
        metric = Histogram(name, documentation, _LABELS, buckets=tuple(bounds), registry=self.registry)
        return metric.labels(*self._labels)


class _EngineCollector(Collector):
    """Asks the engine what it does now."""

    def __init__(self, engine: Engine, model: str) -> None:
        self._engine = engine
        self._labels = (model, "0")

    def collect(self) -> Iterator[Metric]:
        stats = self._engine.stats()
        yield self._gauge("vllm:num_requests_running", "Sequences that are being generated.", stats.running)
        yield self._gauge("vllm:num_requests_waiting", "Sequences that wait for a place.", stats.waiting)
        yield self._gauge(
            "vllm:kv_cache_usage_perc",
            "The share of the KV cache that running sequences hold, 0 to 1.",
            stats.cache_usage,
        )
        if stats.cache_tokens is not None:
            yield self._gauge("specvino:kv_cache_tokens", "Tokens that fit into the KV cache.", stats.cache_tokens)
        if stats.accepted_drafts is not None:
            yield self._counter(
                "vllm:spec_decode_num_accepted_tokens",
                "Generated tokens that speculative decoding had drafted.",
                stats.accepted_drafts,
            )
        yield self._counter("vllm:generation_tokens", "Tokens that were generated.", self._engine.generated_tokens)
        yield self._counter(
            "specvino:engine_restarts", "Child processes of the engine that were lost and replaced.", stats.restarts
        )
        states = GaugeMetricFamily(
            "specvino:engine_state", "1 for the state that the engine is in.", labels=(*_LABELS, "state")
        )
        for state in get_args(State):
            states.add_metric((*self._labels, state), state == stats.state)
        yield states

    def _gauge(self, name: str, documentation: str, value: float) -> Metric:
        family = GaugeMetricFamily(name, documentation, labels=_LABELS)
        family.add_metric(self._labels, value)
        return family

    def _counter(self, name: str, documentation: str, value: float) -> Metric:
        family = CounterMetricFamily(name, documentation, labels=_LABELS)
        family.add_metric(self._labels, value)
        return family
