"""Responses that are kept wrongly, or not at all."""

from collections.abc import Mapping, Sequence
from typing import Any

from reference_server.http import Call, Event, Stream
from reference_server.items import Item
from reference_server.refusal import Refusal
from reference_server.responses import Response, Responses
from reference_server.stored import Record, Stored
from specvino.generated.errors import ErrorCode


class KeepsNothing(Stored):
    """store is taken without effect."""

    breaks = {"responses/capabilities/store"}

    def keep(self, begun: Response, whole: Response, taken: Sequence[Item], events: Sequence[Event]) -> Response:
        return whole


class KeepsAll(Responses):
    """store false is taken without effect."""

    breaks = {"responses/stored/not-kept"}

    def stores(self, body: Mapping[str, Any]) -> bool:
        return True


class KeepsOnDemand(Responses):
    """Only what store asks for is stored."""

    breaks = {"responses/stored/by-default"}

    def stores(self, body: Mapping[str, Any]) -> bool:
        return body.get("store") is True


class KeepsNoStreams(Responses):
    """Streamed responses are only stored if store asks for it."""

    breaks = {"responses/stored/streamed-by-default"}

    def stores(self, body: Mapping[str, Any]) -> bool:
        return super().stores(body) and ("store" in body or not body.get("stream"))


class ReadsWithoutOutput(Stored):
    """A stored response is read without its output."""

    breaks = {"responses/stored/reads-back", "responses/stored/streamed-reads-back"}

    def looked_at(self, record: Record) -> Response:
        return {**super().looked_at(record), "output": []}


class MixesMetadata(Stored):
    """A stored response is read with the metadata of the newest one."""

    breaks = {"responses/stored/at-the-same-time"}

    def looked_at(self, record: Record) -> Response:
        newest = [*self.records.values()][-1]
        return {**super().looked_at(record), "metadata": newest.now["metadata"]}


class ForgetsNothing(Stored):
    """A deleted response is still there."""

    breaks = {"responses/stored/deleted"}

    def forget(self, id: str) -> None:
        return


class FailsToDelete(Stored):
    """Deleting is a failure of the server."""

    breaks = {"responses/capabilities/deletion"}

    def delete_response(self, call: Call) -> dict[str, Any]:
        raise Refusal(ErrorCode.INTERNAL_ERROR, "The server failed.")


class FailsToList(Stored):
    """Listing the input is a failure of the server."""

    breaks = {"responses/capabilities/input-items"}

    def list_input_items(self, call: Call) -> dict[str, Any]:
        raise Refusal(ErrorCode.INTERNAL_ERROR, "The server failed.")


class AnyId(Stored):
    """An id that nobody knows stands for the newest response."""

    breaks = {
        "responses/stored/unknown",
        "responses/stored/unknown-to-cancel",
        "responses/stored/unknown-to-list",
        "responses/previous/unknown",
    }

    def record(self, id: str, param: str = "response_id") -> Record:
        return self.records.get(id) or [*self.records.values()][-1]


class OneOrder(Stored):
    """The newest item is always listed first."""

    breaks = {"responses/stored/input-items"}

    def ordered(self, items: list[Item], query: Mapping[str, str]) -> list[Item]:
        return items[::-1]


class OnePage(Stored):
    """A page says that none follows."""

    breaks = {"responses/stored/input-items"}

    def has_more(self, items: list[Item], end: int) -> bool:
        return False


class NothingEarlier(Stored):
    """previous_response_id is taken without effect."""

    breaks = {"responses/capabilities/previous"}

    def earlier(self, id: str | None) -> list[Item]:
        return []


class NamesNoPrevious(Responses):
    """A response doesn't say which one it continues."""

    breaks = {"responses/previous/chain", "responses/previous/without-keeping"}
    faults = 2

    def begun_response(self, body: Mapping[str, Any]) -> Response:
        return {**super().begun_response(body), "previous_response_id": None}


class InstructionsCarryOver(Responses):
    """Instructions are those of the response that is continued, too."""

    breaks = {"responses/previous/instructions-end"}

    def instructed(self, body: Mapping[str, Any]) -> list[tuple[str, str]]:
        before = self.server.stored.records.get(body.get("previous_response_id", ""))
        earlier = before.now["instructions"] if before else None
        return [*([("system", earlier)] if earlier else []), *super().instructed(body)]


class LosesCalls(Stored):
    """A response is continued without its calls."""

    breaks = {"responses/previous/call"}

    def earlier(self, id: str | None) -> list[Item]:
        return [item for item in super().earlier(id) if item["type"] != "function_call"]


class NeverBehind(Responses):
    """background is taken without effect."""

    breaks = {"responses/capabilities/background"}

    def is_background(self, body: Mapping[str, Any]) -> bool:
        return False


class FailsBehind(Stored):
    """A response in the background ends as a failure."""

    breaks = {"responses/background/finishes"}

    def looked_at(self, record: Record) -> Response:
        now = super().looked_at(record)
        over = now["background"] and now["status"] in ("completed", "incomplete")
        return {**now, "status": "failed"} if over else now


class CancelledFails(Stored):
    """What was cancelled counts as a failure."""

    breaks = {"responses/background/cancelled"}

    def cancelled(self, response: Response) -> Response:
        return {**response, "status": "failed"}


class CancelsAnything(Stored):
    """What was not made in the background is cancelled, too."""

    breaks = {"responses/background/not-cancellable"}

    def cancel_response(self, call: Call) -> Response:
        record = self.record(call.parameters["response_id"])
        if not record.now["background"]:
            return self.cancelled(record.now)
        return super().cancel_response(call)


class EventsUnread(Stored):
    """A stored response is read without its events, whatever stream says."""

    breaks = {"responses/capabilities/resume", "responses/stored/events-of-a-kept-one"}
    faults = 2

    def flag(self, query: Mapping[str, str], name: str) -> bool:
        return False


class NeverResumes(Stored):
    """The events of a stored response always come from the first one."""

    breaks = {"responses/background/resumed"}

    def retrieve_response(self, call: Call) -> Response | Stream:
        call.query = {name: value for name, value in call.query.items() if name != "starting_after"}
        return super().retrieve_response(call)
