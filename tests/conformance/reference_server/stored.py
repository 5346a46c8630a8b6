"""Stored responses."""

from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reference_server.http import Call, Event, Route, Stream
from reference_server.items import Item
from reference_server.part import Part
from reference_server.refusal import Refusal
from reference_server.responses import Response
from specvino.generated.errors import ErrorCode

if TYPE_CHECKING:
    from reference_server.server import ReferenceServer

LOOKS = 1
"""How often a response in the background is seen unfinished, before it is finished."""


@dataclass(slots=True)
class Record:
    """A response as it is `now` and when it is `whole`; the first has nothing put out yet."""

    now: Response
    whole: Response
    taken: Sequence[Item]
    events: Sequence[Event]
    looks: int = 0


class Stored(Part):
    """Responses in the background are worked on by being looked at, so that nothing depends on the time."""

    routes = (
        Route("GET", "/responses/{response_id}", "retrieve_response"),
        Route("DELETE", "/responses/{response_id}", "delete_response"),
        Route("POST", "/responses/{response_id}/cancel", "cancel_response"),
        Route("GET", "/responses/{response_id}/input_items", "list_input_items"),
    )

    def __init__(self, server: "ReferenceServer") -> None:
        super().__init__(server)
        self.records: MutableMapping[str, Record] = {}

    def keep(self, begun: Response, whole: Response, taken: Sequence[Item], events: Sequence[Event]) -> Response:
        now = begun if begun["background"] else whole
        self.records[begun["id"]] = Record(now, whole, taken, events)
        return now

    def record(self, id: str, param: str = "response_id") -> Record:
        """Raises Refusal."""
        if id not in self.records:
            raise Refusal(ErrorCode.RESPONSE_NOT_FOUND, f"No response is stored under {id[:200]!r}.", param)
        return self.records[id]

    def stored_item(self, id: str) -> Item | None:
        every = [item for record in self.records.values() for item in (*record.taken, *record.now["output"])]
        every += (item for conversation in self.server.conversations.kept.values() for item in conversation.items)
        return next((item for item in every if item.get("id") == id), None)

    def earlier(self, id: str | None) -> list[Item]:
        if id is None:
            return []
        record = self.record(id, "previous_response_id")
        if record.now["status"] in ("queued", "in_progress"):
            message = f"The response {id[:200]!r} is still being made."
            raise Refusal(ErrorCode.RESPONSE_NOT_FINISHED, message, "previous_response_id")
        before = record.now["previous_response_id"]
        return [*(self.earlier(before) if before in self.records else []), *record.taken, *record.now["output"]]

    def retrieve_response(self, call: Call) -> Response | Stream:
        record = self.record(call.parameters["response_id"])
        if self.flag(call.query, "stream"):
            record.now = record.whole
            after = self.integer(call.query, "starting_after", -1, (0, 2**31 - 1))
            return self.server.responses.response_stream(record.events[after + 1 :])
        return self.looked_at(record)

    def looked_at(self, record: Record) -> Response:
        """The response; one in the background goes on meanwhile."""
        if record.now["status"] in ("queued", "in_progress"):
            record.now = {**record.now, "status": "in_progress"} if record.looks < LOOKS else record.whole
            record.looks += 1
        return record.now

    def delete_response(self, call: Call) -> dict[str, Any]:
        id = call.parameters["response_id"]
        self.record(id)
        self.forget(id)
        return {"id": id, "object": "response", "deleted": True}

    def forget(self, id: str) -> None:
        del self.records[id]

    def cancel_response(self, call: Call) -> Response:
        record = self.record(call.parameters["response_id"])
        if not record.now["background"]:
            message = "Only responses in the background can be cancelled."
            raise Refusal(ErrorCode.RESPONSE_NOT_CANCELLABLE, message, "response_id")
        if record.now["status"] in ("queued", "in_progress"):
            record.now = self.cancelled(record.now)
        return record.now

    def cancelled(self, response: Response) -> Response:
        return {**response, "status": "cancelled"}

    def list_input_items(self, call: Call) -> dict[str, Any]:
        record = self.record(call.parameters["response_id"])
        return self.page([*self.earlier(record.now["previous_response_id"]), *record.taken], call.query)

    def page(self, items: list[Item], query: Mapping[str, str]) -> dict[str, Any]:
        items = self.ordered(items, query)
        start = self.start(items, query)
        page = items[start : start + self.page_size(query)]
        return {
            "object": "list",
            "data": page,
            "first_id": page[0]["id"] if page else None,
            "last_id": page[-1]["id"] if page else None,
            "has_more": self.has_more(items, start + len(page)),
        }

    def ordered(self, items: list[Item], query: Mapping[str, str]) -> list[Item]:
        order = query.get("order", "desc")
        if order not in ("asc", "desc"):
            raise Refusal(ErrorCode.INVALID_VALUE, f"order is {order[:100]!r}, but must be asc or desc.", "order")
        return items if order == "asc" else items[::-1]

    def start(self, items: list[Item], query: Mapping[str, str]) -> int:
        """Where the page begins: behind `after`."""
        if "after" not in query:
            return 0
        ids = [item["id"] for item in items]
        if query["after"] not in ids:
            raise Refusal(ErrorCode.ITEM_NOT_FOUND, f"There is no item {query['after'][:200]!r}.", "after")
        return ids.index(query["after"]) + 1

    def page_size(self, query: Mapping[str, str]) -> int:
        return self.integer(query, "limit", 20, (1, 100))

    def has_more(self, items: list[Item], end: int) -> bool:
        return end < len(items)

    def flag(self, query: Mapping[str, str], name: str) -> bool:
        value = query.get(name, "false")
        if value not in ("true", "false"):
            raise Refusal(ErrorCode.INVALID_TYPE, f"{name} is {value[:100]!r}, but must be true or false.", name)
        return value == "true"

    def integer(self, query: Mapping[str, str], name: str, default: int, bounds: tuple[int, int]) -> int:
        text = query.get(name)
        if text is None:
            return default
        try:
            value = int(text)
        except ValueError:
            raise Refusal(ErrorCode.INVALID_TYPE, f"{name} is {text[:100]!r}, but must be an integer.", name) from None
        if value < bounds[0]:
            raise Refusal(ErrorCode.INTEGER_BELOW_MIN_VALUE, f"{name} must be at least {bounds[0]}.", name)
        if value > bounds[1]:
            raise Refusal(ErrorCode.INTEGER_ABOVE_MAX_VALUE, f"{name} must be at most {bounds[1]}.", name)
        return value
