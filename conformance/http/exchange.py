"""An exchange: one request and its answer."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

from specvino.conformance.streams.asides import is_aside
from specvino.conformance.streams.fold import (
    fold_chat,
    fold_completion,
    fold_message,
    fold_ollama_chat,
    fold_ollama_generate,
    fold_response,
)
from specvino.conformance.streams.lines import LineDecoder
from specvino.conformance.streams.sse import Decoder, ServerSentEvent
from specvino.conformance.streams.strict_json import strict_json
from specvino.document.conditions import value_at
from specvino.document.operations import EVENTS, FRAMINGS
from specvino.generated.streams import STREAMS, Stream

# How an exchange ended. `left`: the client closed the connection on purpose.
Ended = Literal["complete", "cut off", "too slow", "too long", "unreachable", "left"]

FOLDS = {
    "chat": fold_chat,
    "completions": fold_completion,
    "responses": fold_response,
    "response": fold_response,
    "messages": fold_message,
    "ollama_chat": fold_ollama_chat,
    "ollama_generate": fold_ollama_generate,
}


# The largest number of bytes of an answer that a finding keeps, which is more than reports show.
EXCERPT = 64_000

# The method of requests that are messages on a WebSocket. It isn't one of HTTP's.
MESSAGE = "WS"


class Unreadable(Exception):
    """Raised if the answer of an exchange can't be parsed; the message is the reason."""

    def __init__(self, message: str, exchange: "Exchange") -> None:
        super().__init__(message)
        self.exchange = exchange


@dataclass(frozen=True, slots=True)
class Request:
    """A request as sent. `body` is the JSON value, None without one; `content` is the bytes. A message on a WebSocket
    has the method MESSAGE and the headers of the handshake."""

    endpoint: str | None
    method: str
    path: str
    headers: Mapping[str, str]
    content: bytes | None
    body: Any = None
    binary: bool = False
    """Whether the message is a binary one."""

    @property
    def is_message(self) -> bool:
        return self.method == MESSAGE

    def asked(self, field: str, default: Any = None) -> Any:
        """Returns a field of the JSON body, at a dotted path; the default if it is absent or null."""
        value = value_at(self.body, field)
        return default if value is None else value

    @property
    def table(self) -> Stream | None:
        """Returns the table of the endpoint's streams; None without one."""
        return STREAMS.get(self.endpoint or "")

    @property
    def streamed(self) -> bool:
        """Whether the request is for a stream, which is the default of some endpoints."""
        return self.asked("stream", self.table is not None and self.table.by_default) is True

    @property
    def only_loads(self) -> bool:
        """Whether a request of Ollama's API has nothing to answer, or only asks for its prompt: the answer is then one
        object in any case."""
        is_empty = not (self.asked("messages") or self.asked("prompt"))
        lines = self.table is not None and self.table.framing == "lines"
        return lines and (is_empty or self.asked("_debug_render_only") is True)


@dataclass(frozen=True)
class Exchange:
    """A request and its answer. `status` is None without an answer. `headers` have lower-case names. Times are in
    seconds since the request was sent.

    The answer to a message on a WebSocket is a stream with the status 200, or one error with its own status. `content`
    has its messages one after the other, and `headers` are those that they contain.
    """

    number: int
    request: Request
    status: int | None
    headers: Mapping[str, str]
    content: bytes
    ended: Ended
    seconds: float
    first: float | None = None
    problem: str | None = None
    retries: int = 0
    times: tuple[float, ...] = field(default=())
    """The arrival time of each body chunk."""
    connection: str | None = None
    """The local address of the connection, if the server keeps it open."""
    began: float = 0.0
    """The time of the request, in seconds since 1970."""
    messages: tuple[bytes, ...] = ()
    """The messages of the answer on a WebSocket."""
    received: tuple[int, ...] = ()
    """The number of bytes of the content that had arrived at each of the times."""
    together: bool = False
    """Whether its case sent other requests at the same time."""
    left_out: int = 0
    """The number of bytes that an excerpt's content lacks."""

    @property
    def size(self) -> int:
        """Returns the number of bytes of the whole content."""
        return len(self.content) + self.left_out

    def excerpt(self) -> "Exchange":
        """Returns the exchange with at most EXCERPT bytes of its content, for a finding: a run must not keep the whole
        answers of a server that sends large ones."""
        if len(self.content) <= EXCERPT:
            return self
        kept = self.content[:EXCERPT]
        return replace(self, content=kept, times=(), received=(), messages=(), left_out=len(self.content) - EXCERPT)

    @property
    def media(self) -> str:
        """Returns the media type without parameters; empty without one."""
        return self.headers.get("content-type", "").split(";")[0].strip().lower()

    @property
    def without_effect(self) -> frozenset[str]:
        """Returns the request fields that X-Unsupported-Params lists. A gateway may prefix the header's name."""
        values = [value for name, value in self.headers.items() if f"-{name}".endswith("-x-unsupported-params")]
        return frozenset(field.strip() for value in values for field in value.split(","))

    @property
    def is_stream(self) -> bool:
        if self.request.is_message:
            return self.status == 200
        table = self.request.table
        return self.media == (FRAMINGS[table.framing] if table else EVENTS)

    def require_stream(self) -> None:
        """Raises Unreadable if the media type isn't that of a stream."""
        if not self.is_stream:
            raise Unreadable(f"stream is true, but the answer is {self.media or 'of no media type'}", self)

    def decoder(self) -> Decoder | LineDecoder:
        """Returns a new decoder of the stream's events."""
        table = self.request.table
        return LineDecoder() if table and table.framing == "lines" else Decoder()

    @cached_property
    def events(self) -> tuple[ServerSentEvent, ...]:
        """Returns the events of a stream, including the terminator."""
        if self.request.is_message and self.is_stream:
            return tuple(ServerSentEvent(message.decode("utf-8", "replace")) for message in self.messages)
        return tuple(self.decoder().feed(self.content)) if self.is_stream else ()

    @cached_property
    def objects(self) -> tuple[dict[str, Any], ...]:
        """Returns the JSON objects in a stream's events."""
        return tuple(value for value in map(_object, self.events) if value is not None)

    @cached_property
    def chunks(self) -> tuple[dict[str, Any], ...]:
        """Returns the JSON objects in a stream's events that are part of the answer."""
        table = self.request.table
        return tuple(chunk for chunk in self.objects if table is None or not is_aside(table, chunk))

    @cached_property
    def json(self) -> Any:
        """Returns the body as JSON. Raises Unreadable if it isn't JSON, or if a requested stream came as another media
        type."""
        if self.request.streamed and self.ok and not self.request.only_loads:
            self.require_stream()
        try:
            return strict_json(self.content.decode())
        except (ValueError, RecursionError) as error:
            start = self.content[:80].decode("utf-8", "replace")
            raise Unreadable(f"the answer isn't JSON ({error}): {start!r}", self) from None

    @cached_property
    def answer(self) -> dict[str, Any]:
        """Returns the answer's JSON object; for a stream, the fold of its events. Choices are in the order of their
        indexes, in which no document orders them. Raises Unreadable."""
        if not self.is_stream:
            if not isinstance(self.json, dict):
                raise Unreadable(f"the answer isn't a JSON object: {self.content[:80]!r}", self)
            return _by_index(self.json)
        fold = FOLDS.get(self.request.endpoint or "")
        if fold is None or not self.chunks:
            raise Unreadable("the stream has no events", self)
        try:
            return fold(list(self.chunks))
        except KeyError as error:
            raise Unreadable(
                f"the stream can't be folded into an answer: an event has no {error.args[0]!r}", self
            ) from None
        except IndexError:
            raise Unreadable(
                "the stream can't be folded into an answer: an event refers to an item or part that wasn't added", self
            ) from None
        except (TypeError, AttributeError):
            raise Unreadable(
                "the stream can't be folded into an answer: an event has a value of the wrong type", self
            ) from None

    @property
    def ok(self) -> bool:
        """Returns whether the answer is complete, with a 2xx status."""
        return self.status is not None and self.status < 300 and self.ended == "complete"

    @property
    def error(self) -> Mapping[str, Any]:
        """Returns the error object of an answer; empty without one."""
        try:
            return error_of(self.json)
        except Unreadable:
            return {}

    def __str__(self) -> str:
        """Returns a summary line: `POST /chat/completions -> 200`."""
        outcome = str(self.status) if self.status is not None else self.problem or self.ended
        return f"{self.request.method} {self.request.path} -> {outcome}"


def error_of(body: Any) -> dict[str, Any]:
    """Returns the error object in a body; empty without one. Where `error` is the message, as in Ollama's own API, the
    other fields are beside it."""
    error = body.get("error") if isinstance(body, dict) else None
    if isinstance(error, str):
        return {**{name: value for name, value in body.items() if name != "error"}, "message": error}
    return error if isinstance(error, dict) else {}


def _by_index(answer: dict[str, Any]) -> dict[str, Any]:
    choices = answer.get("choices")
    if not isinstance(choices, list) or not all(isinstance(choice, dict) for choice in choices):
        return answer
    if any(type(choice.get("index")) is not int for choice in choices):
        return answer
    return {**answer, "choices": sorted(choices, key=lambda choice: choice["index"])}


def _object(event: ServerSentEvent) -> dict[str, Any] | None:
    try:
        value = strict_json(event.data)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
