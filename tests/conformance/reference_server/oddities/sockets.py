"""What servers may do on WebSockets."""

from typing import ClassVar

from reference_server.http import Call, Event, Message
from reference_server.refusal import Refusal
from reference_server.sockets import Sockets
from specvino.generated.errors import ErrorCode


class EndsAtBytes(Sockets):
    """A binary message on a WebSocket ends the connection with the code for data that isn't accepted."""

    def closing_code(self, message: Message) -> int | None:
        return 1003 if message.get("bytes") else None


class RefusesBriefly(Sockets):
    """An error on a WebSocket has its message and its type alone, as OpenAI's package requires."""

    advised: ClassVar = True

    def error(self, refusal: Refusal) -> Event:
        return {"type": "error", "error": {name: refusal.error[name] for name in ("message", "type")}}


class RefusesUpgrades(Sockets):
    """A WebSocket is refused with 403, as Starlette refuses those at unknown paths."""

    def admit(self, call: Call) -> None:
        raise Refusal(ErrorCode.HOST_NOT_ALLOWED, "There is no WebSocket.")
