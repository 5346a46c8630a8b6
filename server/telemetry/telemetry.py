"""The telemetry of one server, built from its settings."""

import asyncio
import socket
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager

from specvino.engine.protocol import Engine
from specvino.handlers.measuring import Observer
from specvino.server.operations.exchange import Recorder
from specvino.server.settings import Settings
from specvino.server.telemetry.load import log_load
from specvino.server.telemetry.logs import log_exchange
from specvino.server.telemetry.metrics_page import MetricsPage, metrics_app, serving_metrics
from specvino.server.telemetry.prometheus import Metrics


class Telemetry:
    """Observers of a model's generations, recorders of exchanges, and the metrics page.

    The page is either `own_page`, on a separate port, or `page`, on the API's port.
    """

    recorders: list[Recorder]

    def __init__(self, engines: Mapping[str, Engine], settings: Settings) -> None:
        """`engines` are keyed by their models' names."""
        chosen = settings.telemetry
        metrics = Metrics(engines)
        own = chosen.metrics_port is not None
        self.page = None if own else MetricsPage(metrics.registry, chosen.metrics_keys or settings.keys)
        self.own_page = MetricsPage(metrics.registry, chosen.metrics_keys) if own else None
        self._metrics = metrics
        self._engines = engines
        self._opentelemetry = None
        self.recorders = [log_exchange, metrics.record]
        if chosen.otlp_traces_endpoint or chosen.otlp_metrics_endpoint:
            # Imported here because it is an extra.
            from specvino.server.telemetry.opentelemetry import Exports, OpenTelemetry

            exports = Exports.to(chosen.otlp_traces_endpoint, chosen.otlp_metrics_endpoint)
            self._opentelemetry = OpenTelemetry(exports, list(engines))
            self.recorders.append(self._opentelemetry.record)

    def observers(self, model: str) -> Sequence[Observer]:
        """Returns the observers of this model's generations."""
        return (self._metrics.of(model),)

    @asynccontextmanager
    async def running(self, listener: socket.socket | None) -> AsyncIterator[None]:
        """Serves the metrics on their separate port, if there is one, logs the load, and flushes pending exports at the
        end."""
        busy = asyncio.create_task(log_load(self._engines))
        try:
            if listener is not None and self.own_page is not None:
                async with serving_metrics(metrics_app(self.own_page), listener):
                    yield
            else:
                yield
        finally:
            busy.cancel()
            await asyncio.gather(busy, return_exceptions=True)
            if self._opentelemetry is not None:
                await asyncio.to_thread(self._opentelemetry.close)
