"""One replica: the whole app of a server, with engine processes of its own."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from connexion import AsyncApp
from ray import serve

from specvino.server.assembly import ServeOptions, served_app


@serve.ingress()
class Replica:
    """Is what Ray starts on a machine. It takes requests once its models are loaded."""

    def __init__(self, options: ServeOptions) -> None:
        self._served = served_app(options)

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

    async def check_health(self) -> None:
        """Raises RuntimeError where none of the models can answer any more: Ray then replaces the replica."""
        states = {names[0]: engine.stats().state for names, engine in self._served.engines.items()}
        if not {"ready", "loading"} & set(states.values()):
            raise RuntimeError(f"no model can answer: {states}")
