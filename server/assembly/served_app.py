"""A server's ASGI app with everything that it owns, independent of the HTTP server that runs it."""

import asyncio
import gc
import logging
import time
from collections.abc import Mapping
from types import MappingProxyType

from connexion import AsyncApp

from specvino.engine.errors import ModelLoadError
from specvino.engine.progress import Report, say_nothing
from specvino.engine.protocol import Engine
from specvino.handlers import bind
from specvino.handlers.encryption import Cipher
from specvino.handlers.limits import Limits
from specvino.handlers.media import MediaSettings
from specvino.handlers.models import Adapter, ServedModel
from specvino.handlers.store import ResponseStore, StoreUnavailable, StoreUnusable
from specvino.server.app import Lifespan, create_app
from specvino.server.assembly.storage import StorageError, WrongStore
from specvino.server.operations.operation import Drain
from specvino.server.settings import Settings, door
from specvino.server.telemetry.telemetry import Telemetry

logger = logging.getLogger("specvino.server")


class ServedApp:
    """An app with its engines, the handlers bound to them, the response store and telemetry.

    `engines` are keyed by the names of their models, `adapters` by their own names. The caller that runs the app calls
    `start` and `close`.
    """

    def __init__(
        self,
        engines: Mapping[tuple[str, ...], Engine],
        settings: Settings,
        store: ResponseStore,
        cipher: Cipher,
        limits: Limits,
        media: MediaSettings,
        adapters: Mapping[str, Adapter] = MappingProxyType({}),
    ) -> None:
        self.engines = engines
        self.settings = settings
        self.store = store
        self.telemetry = Telemetry({names[0]: engine for names, engine in engines.items()}, settings)
        self.drain = Drain()
        created = int(time.time())
        observers = self.telemetry.observers
        served = [
            ServedModel(names, created, engine, observers(names[0]), adapters.get(names[0]))
            for names, engine in engines.items()
        ]
        self._handlers = bind(served, store, cipher, limits, media, door(settings))

    def asgi(self, lifespan: Lifespan) -> AsyncApp:
        """Returns the ASGI app with this `lifespan`."""
        return create_app(self._handlers, self.settings, lifespan, self.telemetry, self.drain, self.store.accounts)

    async def start(self, report: Report = say_nothing) -> None:
        """Opens the store and loads the models, with progress passed to `report`. Raises ModelLoadError and
        StorageError.
        """
        try:
            await self.store.open()
        except StoreUnavailable as error:
            hint = "--response-store names another one, or none"
            kind = WrongStore if isinstance(error, StoreUnusable) else StorageError
            raise kind(f"the response store {self.store.location} can't be used: {error} ({hint})") from error
        try:
            for engine in self.engines.values():  # one by one: loading uses all cores, and memory that it releases
                await engine.start(report)
        except ModelLoadError:
            raise
        except Exception as error:
            logger.exception("the engine could not be started")
            raise ModelLoadError(f"the engine could not be started: {error!r}") from error
        # Loaded objects stay alive; otherwise the garbage collector would traverse them again and again, 50 ms each.
        gc.collect()
        gc.freeze()

    @property
    def under_way(self) -> int:
        """The number of running responses, including those in the background."""
        return self.drain.under_way + self._handlers.in_background

    async def stop_answers(self) -> None:
        """Ends running responses, each with an error."""
        await asyncio.gather(self._handlers.close(), *(engine.close() for engine in self.engines.values()))

    async def close(self) -> None:
        """Closes background responses, then the engines and the store."""
        await self._handlers.close()
        await asyncio.gather(*(engine.close() for engine in self.engines.values()))
        await self.store.close()
