"""A histogram for what is observed with each token: prometheus-client's own takes ten calls and two locks for that."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import accumulate

from prometheus_client.core import HistogramMetricFamily, Metric
from prometheus_client.registry import Collector


class QuickHistogram(Collector):
    """Counts in buckets with these upper bounds, for one event loop; who reads it may be in another thread."""

    def __init__(
        self, name: str, documentation: str, labels: Sequence[str], values: Sequence[str], bounds: Sequence[float]
    ) -> None:
        self._name = name
        self._documentation = documentation
        self._labels = labels
        self._values = values
        self._bounds = tuple(map(float, bounds))
        self._counts = [0] * (len(self._bounds) + 1)
        self._sum = 0.0

    def observe(self, amount: float) -> None:
        """Counts an amount in the first bucket that it isn't above."""
        self._counts[bisect_left(self._bounds, amount)] += 1
        self._sum += amount

    def collect(self) -> Iterator[Metric]:
        family = HistogramMetricFamily(self._name, self._documentation, labels=self._labels)
        bounds = [*map(str, self._bounds), "+Inf"]
        family.add_metric(self._values, list(zip(bounds, accumulate(self._counts), strict=True)), self._sum)
        yield family
