"""A histogram for what is observed with each token: prometheus-client's own takes ten calls and two locks for that."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import accumulate

from prometheus_client.core import HistogramMetricFamily, Metric
from prometheus_client.registry import Collector


class QuickSeries:
    """Counts in buckets with these upper bounds, for one event loop; who reads it may be in another thread."""

    def __init__(self, bounds: Sequence[float]) -> None:
        self._bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.sum = 0.0

    def observe(self, amount: float) -> None:
        """Counts an amount in the first bucket that it isn't above."""
        self.counts[bisect_left(self._bounds, amount)] += 1
        self.sum += amount


class QuickHistogram(Collector):
    """Holds the series that differ by the values of their labels."""

    def __init__(self, name: str, documentation: str, labels: Sequence[str], bounds: Sequence[float]) -> None:
        self._name = name
        self._documentation = documentation
        self._labels = labels
        self._bounds = tuple(map(float, bounds))
        self._series: dict[tuple[str, ...], QuickSeries] = {}

    def labels(self, *values: str) -> QuickSeries:
        """Returns the series with these values of the labels."""
        return self._series.setdefault(values, QuickSeries(self._bounds))

    def collect(self) -> Iterator[Metric]:
        family = HistogramMetricFamily(self._name, self._documentation, labels=self._labels)
        bounds = [*map(str, self._bounds), "+Inf"]
        for values, series in list(self._series.items()):
            family.add_metric(values, list(zip(bounds, accumulate(series.counts), strict=True)), series.sum)
        yield family
