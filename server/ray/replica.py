"""A replica, which is a complete server app with its own engine processes, and the combined metrics page of all
replicas.
"""

import logging.config
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from connexion import AsyncApp
from prometheus_client import CollectorRegistry, Metric, generate_latest
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector
from ray import serve

from specvino.server.assembly import ServeOptions, make_app
from specvino.server.telemetry import logs


@serve.ingress()
class Replica:
    """The actor that Ray starts. It receives requests once its models are loaded."""

    def __init__(self, options: ServeOptions) -> None:
        logging.config.dictConfig(logs.config(options.log_format, options.log_level))
        self._served = make_app(options)
        if self._served.telemetry.page is not None:
            self._served.telemetry.page.gather = _metrics_of_all

    def __serve_build_asgi_app__(self) -> AsyncApp:
        return self._served.asgi(self._lifespan)

    @asynccontextmanager
    async def _lifespan(self, _: Any) -> AsyncIterator[None]:
        async with self._served.telemetry.running(None):
            try:
                await self._served.start()
                yield
            finally:
                await self._served.close()

    async def metrics(self) -> tuple[str, str]:
        """Returns this replica's ID, and its metrics in Prometheus' text format."""
        page = self._served.telemetry.page
        return serve.get_replica_context().replica_id.unique_id, page.own().decode() if page is not None else ""

    async def check_health(self) -> None:
        """Raises RuntimeError if no model works or is being restarted: Ray then replaces the replica."""
        states = {names[0]: engine.stats().state for names, engine in self._served.engines.items()}
        if set(states.values()) <= {"stalled", "closed"}:
            raise RuntimeError(f"no model works: {states}")


async def _metrics_of_all() -> bytes:
    own = serve.get_replica_context()
    replicas = serve.get_deployment_handle(own.deployment, own.app_name)
    return merged(dict(await replicas.broadcast("metrics").results_async()))


LABEL = "replica"


def merged(pages: Mapping[str, str]) -> bytes:
    """Merges pages in Prometheus' text format, given by replica ID: each sample gets its replica as a label."""
    families: dict[str, Metric] = {}
    for replica, page in pages.items():
        for family in text_string_to_metric_families(page):
            metric = families.setdefault(family.name, Metric(family.name, family.documentation, family.type))
            for sample in family.samples:
                metric.add_sample(sample.name, {**sample.labels, LABEL: replica}, sample.value)
    registry = CollectorRegistry()
    registry.register(_Families(families.values()))
    return generate_latest(registry)


class _Families(Collector):
    def __init__(self, families: Iterable[Metric]) -> None:
        self._families = families

    def collect(self) -> Iterator[Metric]:
        yield from self._families
