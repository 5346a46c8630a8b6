"""One folder per endpoint: a generated protocol bound to the engine.

Handlers know no HTTP (they raise `errors.ApiError`) and no OpenVINO (they see `engine.protocol.Engine`).
"""

from dataclasses import dataclass

from specvino.engine.protocol import Engine
from specvino.generated import handlers as protocols
from specvino.handlers.chat import Chat
from specvino.handlers.models import Models, ServedModel
from specvino.handlers.service import Service


@dataclass(frozen=True, slots=True)
class Handlers:
    """All handlers, by tag."""

    chat: protocols.ChatHandlers
    models: protocols.ModelsHandlers
    service: protocols.ServiceHandlers


def bind(engine: Engine, served: ServedModel) -> Handlers:
    """Binds every handler to an engine and the names under which its model is served."""
    return Handlers(chat=Chat(engine, served), models=Models(served), service=Service(engine))
