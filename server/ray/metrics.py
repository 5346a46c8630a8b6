"""The metrics of all replicas as one page."""

from collections.abc import Iterable, Iterator, Mapping

from prometheus_client import CollectorRegistry, Metric, generate_latest
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector

LABEL = "replica"


def merged(pages: Mapping[str, str]) -> bytes:
    """Returns pages in Prometheus' text format, by the ids of their replicas, as one: each sample has its replica as a
    label."""
    families: dict[str, Metric] = {}
    for replica, page in pages.items():
        for family in text_string_to_metric_families(page):
            found = families.setdefault(family.name, Metric(family.name, family.documentation, family.type))
            for sample in family.samples:
                found.add_sample(sample.name, {**sample.labels, LABEL: replica}, sample.value)
    registry = CollectorRegistry()
    registry.register(_Families(families.values()))
    return generate_latest(registry)


class _Families(Collector):
    def __init__(self, families: Iterable[Metric]) -> None:
        self._families = families

    def collect(self) -> Iterator[Metric]:
        yield from self._families
