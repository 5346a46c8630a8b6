"""Metrics of generations, with each model's name as a label."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import get_args

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.core import HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from specvino.handlers.measuring import GenerationRecord, Outcome

# The buckets of vLLM, so that one dashboard can compare servers.
LATENCY = (0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680)
FIRST_TOKEN = (
    *(0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80),
    *(160, 640, 2560),
)
LATER_TOKEN = (0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80)
CHOICES = (1, 2, 5, 10, 20)
TOKENS = tuple(digit * 10**power for power in range(6) for digit in (1, 2, 5))  # vLLM stops at the context's length


class QuickSeries:
    """Counts in buckets with these upper bounds, updated by one event loop; readers may be in other threads."""

    def __init__(self, bounds: Sequence[float]) -> None:
        self._bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.sum = 0.0

    def observe(self, amount: float) -> None:
        """Counts an amount in the first bucket whose bound it doesn't exceed."""
        self.counts[bisect_left(self._bounds, amount)] += 1
        self.sum += amount


class QuickHistogram(Collector):
    """A histogram for per-token observations: prometheus-client's own needs ten calls and two locks for each."""

    def __init__(self, name: str, documentation: str, labels: Sequence[str], bounds: Sequence[float]) -> None:
        self._name = name
        self._documentation = documentation
        self._labels = labels
        self._bounds = tuple(map(float, bounds))
        self._series: dict[tuple[str, ...], QuickSeries] = {}

    def labels(self, *values: str) -> QuickSeries:
        """Returns the series with these label values."""
        return self._series.setdefault(values, QuickSeries(self._bounds))

    def collect(self) -> Iterator[Metric]:
        family = HistogramMetricFamily(self._name, self._documentation, labels=self._labels)
        bounds = [*map(str, self._bounds), "+Inf"]
        for values, series in list(self._series.items()):
            family.add_metric(values, list(zip(bounds, accumulate(series.counts), strict=True)), series.sum)
        yield family


LABELS = ("model_name", "engine")


def labels_of(model: str) -> tuple[str, str]:
    """Returns the values of LABELS. There is one engine per model, so its number is always 0."""
    return model, "0"


class GenerationMetrics:
    """The metrics of generations, each with a series for every model."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._registry = registry
        self.prompt_tokens = self._counter("vllm:prompt_tokens", "Prompt tokens of admitted requests.")
        self.success = Counter(
            "vllm:request_success",
            "Finished choices, by finish reason.",
            (*LABELS, "finished_reason"),
            registry=registry,
        )
        self.request_prompt = self._histogram("vllm:request_prompt_tokens", "Prompt tokens of a request.", TOKENS)
        self.request_generation = self._histogram(
            "vllm:request_generation_tokens", "Generated tokens of a request.", TOKENS
        )
        self.n = self._histogram("vllm:request_params_n", "Choices per prompt (n) of a request.", CHOICES)
        self.max_tokens = self._histogram(
            "vllm:request_params_max_tokens", "The token limit (max_tokens) of a request.", TOKENS
        )
        self.first_token = self._histogram(
            "vllm:time_to_first_token_seconds", "Seconds from a request to its first token.", FIRST_TOKEN
        )
        self.later_token = QuickHistogram(
            "vllm:inter_token_latency_seconds",
            "Seconds between two tokens of a choice.",
            LABELS,
            LATER_TOKEN,
        )
        registry.register(self.later_token)
        self.per_output_token = self._histogram(
            "vllm:request_time_per_output_token_seconds",
            "Mean seconds between two tokens of a request's choices.",
            LATER_TOKEN,
        )
        self.end_to_end = self._histogram(
            "vllm:e2e_request_latency_seconds", "Seconds from a request to the end of its answer.", LATENCY
        )
        self.queue = self._histogram(
            "vllm:request_queue_time_seconds", "Seconds that a request waited in the queue.", LATENCY
        )
        self.prefill = self._histogram(
            "vllm:request_prefill_time_seconds",
            "Seconds from the end of a request's queueing to its first token.",
            LATENCY,
        )
        self.decode = self._histogram(
            "vllm:request_decode_time_seconds", "Seconds from a request's first token to its last.", LATENCY
        )
        self.inference = self._histogram(
            "vllm:request_inference_time_seconds",
            "Seconds from the end of a request's queueing to its last token.",
            LATENCY,
        )

    def _counter(self, name: str, documentation: str) -> Counter:
        return Counter(name, documentation, LABELS, registry=self._registry)

    def _histogram(self, name: str, documentation: str, bounds: Iterable[float]) -> Histogram:
        return Histogram(name, documentation, LABELS, buckets=tuple(bounds), registry=self._registry)


class ModelMetrics:
    """The observer of one model's generations."""

    def __init__(self, shared: GenerationMetrics, model: str) -> None:
        labels = labels_of(model)
        self._outcomes = {outcome: shared.success.labels(*labels, outcome) for outcome in get_args(Outcome)}
        self._prompt_tokens = shared.prompt_tokens.labels(*labels)
        self._request_prompt = shared.request_prompt.labels(*labels)
        self._request_generation = shared.request_generation.labels(*labels)
        self._n = shared.n.labels(*labels)
        self._max_tokens = shared.max_tokens.labels(*labels)
        self._first_token = shared.first_token.labels(*labels)
        self._later_token = shared.later_token.labels(*labels)
        self._per_output_token = shared.per_output_token.labels(*labels)
        self._end_to_end = shared.end_to_end.labels(*labels)
        self._queue = shared.queue.labels(*labels)
        self._prefill = shared.prefill.labels(*labels)
        self._decode = shared.decode.labels(*labels)
        self._inference = shared.inference.labels(*labels)

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
        self._end_to_end.observe(record.ended)
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
