"""Binds the generated protocols to an engine. Knows no HTTP and no OpenVINO."""

from collections.abc import Sequence
from dataclasses import dataclass

from specvino.engine.protocol import Engine
from specvino.generated import handlers as protocols
from specvino.handlers.chat import Chat
from specvino.handlers.completions import Completions
from specvino.handlers.encryption import Cipher
from specvino.handlers.limits import Limits
from specvino.handlers.measuring import Observer
from specvino.handlers.media import Media, MediaSettings
from specvino.handlers.models import Models, ServedModel
from specvino.handlers.own_document import Door, OwnDocument
from specvino.handlers.pipeline import Pipeline
from specvino.handlers.responses import Responses
from specvino.handlers.service import Service
from specvino.handlers.store import NoStore, ResponseStore
from specvino.handlers.tokenize import Tokens


@dataclass(frozen=True, slots=True)
class Handlers:
    """All handlers, by tag."""

    chat: protocols.ChatHandlers
    completions: protocols.CompletionsHandlers
    responses: Responses
    tokens: protocols.TokensHandlers
    models: protocols.ModelsHandlers
    service: protocols.ServiceHandlers

    @property
    def in_background(self) -> int:
        """How many responses are being made without a request."""
        return self.responses.in_background

    async def close(self) -> None:
        """Ends what goes on without a request."""
        await self.responses.close()


def bind(
    engine: Engine,
    served: ServedModel,
    store: ResponseStore | None = None,
    cipher: Cipher | None = None,
    limits: Limits | None = None,
    media: MediaSettings | None = None,
    observers: Sequence[Observer] = (),
    door: Door | None = None,
) -> Handlers:
    """Binds every handler to an engine and the names under which its model is served.

    Without a `store` responses aren't kept; without a `cipher` what is encrypted can't be read after a restart. Without
    `media` requests must hold their images themselves. `observers` are told how each generation goes on.
    `door` is what the document says of the server before them.
    """
    limits, store = limits or Limits(), store or NoStore()
    pipeline = Pipeline(engine, served, limits, Media(engine, media or MediaSettings()), observers)
    document = OwnDocument(engine, served.names, limits, door or Door(), keeps=store.keeps)
    return Handlers(
        chat=Chat(pipeline),
        completions=Completions(pipeline),
        responses=Responses(engine, pipeline, store, cipher or Cipher()),
        tokens=Tokens(engine, served),
        models=Models(served),
        service=Service(engine, document),
    )
