"""Implements the generated protocols with engines. Depends on neither HTTP nor OpenVINO."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from specvino.generated import handlers as protocols
from specvino.handlers.chat import Chat
from specvino.handlers.completions import Completions
from specvino.handlers.conversations import Conversations
from specvino.handlers.encryption import Cipher
from specvino.handlers.limits import Limits
from specvino.handlers.media import Media, MediaSettings
from specvino.handlers.messages import Messages
from specvino.handlers.models import Models, ServedModel, ServedModels
from specvino.handlers.ollama import Ollama
from specvino.handlers.own_document import Door, OwnDocument
from specvino.handlers.pipeline import Pipeline
from specvino.handlers.responses import Responses
from specvino.handlers.service import Service
from specvino.handlers.store import NoStore, ResponseStore
from specvino.handlers.tokens import Tokens


@dataclass(frozen=True, slots=True)
class Handlers:
    """All handlers, by tag."""

    chat: protocols.ChatHandlers
    completions: protocols.CompletionsHandlers
    responses: Responses
    conversations: protocols.ConversationsHandlers
    messages: protocols.MessagesHandlers
    ollama: protocols.OllamaHandlers
    tokens: protocols.TokensHandlers
    models: protocols.ModelsHandlers
    service: protocols.ServiceHandlers

    @property
    def in_background(self) -> int:
        """The number of background responses in progress."""
        return self.responses.in_background

    async def close(self) -> None:
        """Ends the background responses in progress."""
        await self.responses.close()


def bind(
    models: Sequence[ServedModel],
    store: ResponseStore | None = None,
    cipher: Cipher | None = None,
    limits: Limits | None = None,
    media: MediaSettings | None = None,
    door: Door | None = None,
) -> Handlers:
    """Returns all handlers for the models.

    Without a `store` responses aren't stored; without a `cipher`, encrypted and signed reasoning isn't accepted after
    a restart. Without `media` requests must contain their images. `door` has the limits of the HTTP server, for its
    document.
    """
    limits, store = limits or Limits(), store or NoStore()
    served = ServedModels(models)
    limits = replace(limits, stores_responses=store.keeps)
    cipher = cipher or Cipher()
    pipeline = Pipeline(served, limits, Media(media or MediaSettings()))
    document = OwnDocument(served, limits, door or Door())
    return Handlers(
        chat=Chat(pipeline),
        completions=Completions(pipeline),
        responses=Responses(pipeline, store, cipher),
        conversations=Conversations(store),
        messages=Messages(pipeline, cipher),
        ollama=Ollama(pipeline, served),
        tokens=Tokens(served, limits),
        models=Models(served),
        service=Service(served.engines, document),
    )
