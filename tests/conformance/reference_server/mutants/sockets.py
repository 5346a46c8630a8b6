"""WebSockets that are opened, answered or ended wrongly."""

from collections.abc import Mapping, MutableMapping
from typing import Any

from reference_server.http import Call, Event, Message
from reference_server.refusal import Refusal
from reference_server.sockets import Sockets, Talk
from reference_server.stored import Record
from specvino.generated.errors import ErrorCode


class FailsToOpen(Sockets):
    """A handshake is a server error."""

    breaks = {"responses/capabilities/websocket"}

    def admit(self, call: Call) -> None:
        raise Refusal(ErrorCode.INTERNAL_ERROR, "An unexpected error occurred.")


class AdmitsAll(Sockets):
    """A WebSocket is opened without a key, and its requests are answered."""

    breaks = {"responses/websocket/without-key", "responses/websocket/wrong-key"}

    def admit(self, call: Call) -> None:
        return


class LeavesOutEvents(Sockets):
    """The events over a WebSocket lack that of a response in progress."""

    breaks = {"responses/websocket/same-events"}
    faults = 2

    def answered(self, call: Call) -> list[Event]:
        return [event for event in super().answered(call) if event["type"] != "response.in_progress"]


class SendsCallsWhole(Sockets):
    """The events over a WebSocket lack the arguments of a call, but for the item that is done."""

    breaks = {"responses/websocket/same-events-of-a-call"}
    faults = 3

    def answered(self, call: Call) -> list[Event]:
        return [event for event in super().answered(call) if "function_call_arguments" not in event["type"]]


class ForgetsTurns(Sockets):
    """A response that isn't stored can't be continued."""

    breaks = {"responses/websocket/continued", "responses/websocket/prepared"}

    def remember(self, talk: Talk, call: Call, events: list[Event]) -> None:
        return


class DropsTurns(Sockets):
    """A response is continued without the turns before it."""

    breaks = {"responses/websocket/continued", "responses/websocket/prepared"}

    def body(self, message: Mapping[str, Any]) -> dict[str, Any]:
        return {**super().body(message), "previous_response_id": None}


class RemembersForAll(Sockets):
    """A response that isn't stored can be continued on every connection."""

    breaks = {"responses/websocket/other-connection"}

    def known(self, talk: Talk) -> MutableMapping[str, Record]:
        return self.server.stored.records


class NamesNoLane(Sockets):
    """Events don't have the lane of their request."""

    breaks = {"responses/websocket/lanes", "responses/websocket/lane-of-an-error"}
    faults = 3

    def labelled(self, event: Event, lane: Any) -> Event:
        return event


class NamesOneLane(Sockets):
    """All events have the lane of the connection's first request."""

    breaks = {"responses/websocket/lanes"}
    faults = 2

    def labelled(self, event: Event, lane: Any) -> Event:
        self.__dict__.setdefault("first", lane)
        return super().labelled(event, self.__dict__["first"] if lane else None)


class RefusesWithoutLane(Sockets):
    """An error doesn't have the lane of its request."""

    breaks = {"responses/websocket/lane-of-an-error"}

    def refused(self, refusal: Refusal, message_lane: Any) -> Event:
        return super().refused(refusal, None)


class AnswersAtOnce(Sockets):
    """Requests without lanes are answered at the same time."""

    breaks = {"responses/websocket/in-order"}
    faults = 3

    def lane(self, talk: Talk, content: bytes) -> Any:
        return super().lane(talk, content) or talk.messages


class GeneratesAlways(Sockets):
    """generate false is taken without effect."""

    breaks = {"responses/websocket/prepared"}

    def only_prepares(self, message: Mapping[str, Any]) -> bool:
        return False


class TakesNoStream(Sockets):
    """A request that says stream is refused."""

    breaks = {"responses/websocket/stream-is-said"}

    def require_type(self, message: Any) -> None:
        super().require_type(message)
        if "stream" in message:
            raise Refusal(ErrorCode.INVALID_VALUE, "stream is implied on a WebSocket.", "stream")


class NotesNothing(Sockets):
    """Fields without effect aren't named."""

    breaks = {"responses/websocket/without-effect"}

    def noted(self, call: Call) -> dict[str, Any]:
        return {}


class EndsByErrors(Sockets):
    """An error ends the connection."""

    breaks = {
        "responses/websocket/not-json",
        "responses/websocket/unknown-type",
        "responses/websocket/without-model",
        "responses/websocket/unknown-model",
        "responses/websocket/other-connection",
    }

    def ends_by(self, refusal: Refusal) -> bool:
        return True


class TakesEveryType(Sockets):
    """Each message is a request for a response, whatever its type."""

    breaks = {"responses/websocket/unknown-type"}

    def require_type(self, message: Any) -> None:
        return


class FillsInTheModel(Sockets):
    """A request without a model is answered."""

    breaks = {"responses/websocket/without-model"}

    def body(self, message: Mapping[str, Any]) -> dict[str, Any]:
        return {"model": self.server.model, **super().body(message)}


class ServesEveryModel(Sockets):
    """A request for an unknown model is answered."""

    breaks = {"responses/websocket/unknown-model"}

    def body(self, message: Mapping[str, Any]) -> dict[str, Any]:
        body = super().body(message)
        return {**body, "model": self.server.model} if "model" in body else body


class BreaksAtBytes(Sockets):
    """A binary message ends the connection, as an error of the server."""

    breaks = {"responses/websocket/binary"}

    def closing_code(self, message: Message) -> int | None:
        return 1011 if message.get("bytes") else None


class RefusesFlatly(Sockets):
    """An error over a WebSocket has the fields of an error beside its type."""

    breaks = {"responses/rules/error-envelope"}

    def error(self, refusal: Refusal) -> Event:
        return {"status": refusal.status, **refusal.error, "type": "error"}


class NotesInAText(Sockets):
    """The headers in the first event are a text."""

    breaks = {"responses/rules/event-shape"}

    def noted(self, call: Call) -> dict[str, Any]:
        return {"headers": str(super().noted(call)["headers"])}


class CountsOn(Sockets):
    """The sequence numbers go on from one response of a connection to the next."""

    breaks = {"responses/rules/stream-order"}

    def labelled(self, event: Event, lane: Any) -> Event:
        self.__dict__["sent"] = self.__dict__.get("sent", -1) + 1
        return {**super().labelled(event, lane), "sequence_number": self.__dict__["sent"]}
