"""Ollama v0.33.0-rc2. `answers/ollama` is what it gave itself."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from dialects.stand_ins.common import NO_ROUTE, TheirChat, TheirCompletions, TheirHttp, TheirRequests
from reference_server.completions import Answers
from reference_server.generation import Asked, Generation, Output, Piece
from reference_server.http import Call, Event, Headers
from reference_server.item_events import ItemEvents
from reference_server.items import Item, Items
from reference_server.models import Models
from reference_server.refusal import Refusal
from reference_server.responses import Response, Responses
from reference_server.tools import Tools
from reference_server.words import Token

from specvino.generated.errors import ErrorCode

FINGERPRINT = {"system_fingerprint": "fp_ollama"}


class OllamaRequests(TheirRequests):
    system = "ollama"


class OllamaHttp(TheirHttp):
    """Nobody looks at keys and media types."""

    statuses: ClassVar = {**NO_ROUTE, ErrorCode.MODEL_NOT_FOUND: 404}

    def authorize(self, call: Call) -> None:
        return

    def require_media(self, call: Call) -> None:
        return

    def require_size(self, size: int) -> None:
        return

    def envelope(self, refusal: Refusal) -> Any:
        kind = {400: "invalid_request_error", 404: "not_found_error"}.get(self.status(refusal), "api_error")
        return {"error": {"message": refusal.message, "type": kind, "param": None, "code": None}}

    async def refuse(self, call: Call, refusal: Refusal) -> None:
        """What the router refuses is a text."""
        if refusal.code not in NO_ROUTE:
            await super().refuse(call, refusal)
            return
        status = self.status(refusal)
        headers: Headers = [(b"content-type", b"text/plain")]
        text = {404: b"404 page not found", 405: b"405 method not allowed"}[status]
        await self.respond(call, status, text, headers)


class OllamaModels(Models):
    def described(self, model: str) -> dict[str, Any]:
        return {**super().described(model), "owned_by": "library"}


class OllamaTools(Tools):
    def choice(self, choice: Any) -> tuple[str, list[str] | None, str]:
        """Nobody reads it."""
        return "auto", None, "tool_choice"

    def several(self, body: Mapping[str, Any]) -> bool:
        return True


class OllamaGeneration(Generation):
    """A stop text ends the answer as any other end does, and there is no n."""

    def stops(self, body: Mapping[str, Any]) -> list[str]:
        stop = body.get("stop")
        found = stop if isinstance(stop, list) else [stop]
        return [each for each in found if isinstance(each, str) and each]

    def outputs(self, asked: Asked) -> list[Output]:
        return [self.output(asked, 0)]


class OllamaChat(TheirChat):
    """Calls come whole, at the end; so does a reason, in a chunk of its own."""

    def chat_id(self) -> str:
        return f"chatcmpl-{self.server.generation.count() % 999}"

    def chat_limit(self, body: Mapping[str, Any]) -> int | None:
        limit: int | None = body.get("max_tokens")
        return None if limit is not None and limit < 0 else limit

    def chat_completion(self, head: Mapping[str, Any], asked: Asked, outputs: Sequence[Output]) -> dict[str, Any]:
        return {**super().chat_completion(head, asked, outputs), **FINGERPRINT}

    def chat_choice(self, asked: Asked, output: Output) -> dict[str, Any]:
        return self.without_null(super().chat_choice(asked, output))

    def chat_message(self, asked: Asked, output: Output) -> dict[str, Any]:
        thoughts = output.joined("thoughts")
        calls = [{**self.tool_call(each), "index": at} for at, each in enumerate(output.calls)]
        return {
            "role": "assistant",
            "content": output.joined("text"),
            **({"reasoning": thoughts} if thoughts else {}),
            **({"tool_calls": calls} if calls else {}),
        }

    def chat_usage(self, asked: Asked, outputs: Sequence[Output]) -> dict[str, Any]:
        usage = super().chat_usage(asked, outputs)
        del usage["completion_tokens_details"]
        return usage

    def chat_logprobs(self, asked: Asked, tokens: Sequence[Token]) -> dict[str, Any] | None:
        if not asked.body.get("logprobs"):
            return None
        found = super().chat_logprobs(asked, [token for token in tokens if token.text])
        return found and {"content": found["content"]}

    def token_logprob(self, token: Token, top: int) -> dict[str, Any]:
        """Without others there is no list of them."""
        return super().token_logprob(token, top) if top else self.shown_logprob(token)

    def token_bytes(self, token: Token) -> list[int] | None:
        """Those of what is shown."""
        return list(token.text.encode())

    def without_null(self, choice: dict[str, Any]) -> dict[str, Any]:
        if choice["logprobs"] is None:
            del choice["logprobs"]
        return choice

    # The stream

    def chat_events(self, head: Mapping[str, Any], asked: Asked, outputs: Sequence[Output]) -> Iterator[Event]:
        (output,) = outputs
        role = {"role": "assistant"}
        for piece in output.pieces:
            if piece.kind != "call":
                yield self.piece_chunk(head, asked, output, piece, {**role, **self.delta(piece)})
                role = {}
        if calls := self.chat_message(asked, output).get("tool_calls"):
            delta = {**role, "content": "", "tool_calls": calls}
            yield self.chat_chunk(head, asked, [self.chunk_choice(output, delta)])
        elif role:
            yield self.chat_chunk(head, asked, [self.chunk_choice(output, {**role, "content": ""})])
        yield self.chat_chunk(head, asked, [self.chunk_choice(output, {}, self.chat_reason(asked, output))])
        yield from self.usage_events(head, asked, outputs)

    def delta(self, piece: Piece) -> dict[str, Any]:
        if piece.kind == "thoughts":
            return {"content": "", "reasoning": piece.text}
        return {"content": piece.text}

    def chunk_choice(
        self, output: Output, delta: Mapping[str, Any], reason: str | None = None, logprobs: Any = None
    ) -> dict[str, Any]:
        return self.without_null(super().chunk_choice(output, delta, reason, logprobs))

    def chat_chunk(self, head: Mapping[str, Any], asked: Asked, choices: list[dict[str, Any]]) -> Event:
        return {**super().chat_chunk(head, asked, choices), **FINGERPRINT}


class OllamaCompletions(TheirCompletions):
    """Nothing is shown but texts."""

    def completion_id(self) -> str:
        return f"cmpl-{self.server.generation.count() % 999}"

    def completion(self, head: Mapping[str, Any], answers: Answers) -> dict[str, Any]:
        return {**super().completion(head, answers), **FINGERPRINT}

    def completion_choice(self, asked: Asked, output: Output) -> dict[str, Any]:
        choice = super().completion_choice(asked, output)
        del choice["logprobs"]
        return choice

    def echoed(self, asked: Asked) -> list[Token]:
        return []

    def text_choice(self, output: Output, text: str, logprobs: Any, reason: str | None = None) -> dict[str, Any]:
        choice = super().text_choice(output, text, logprobs, reason)
        del choice["logprobs"]
        return choice

    def ends_with_text(self, output: Output) -> bool:
        return False

    def completion_chunk(self, head: Mapping[str, Any], asked: Asked, choices: list[dict[str, Any]]) -> Event:
        """Each has a time of its own, and counts nothing yet."""
        zeros = dict.fromkeys(("prompt_tokens", "completion_tokens", "total_tokens"), 0)
        usage = {"usage": zeros} if self.server.chat.wants_usage(asked) else {}
        chunk = super().completion_chunk(head, asked, choices)
        return {**chunk, "created": self.server.http.now(), **FINGERPRINT, **usage}


class OllamaResponses(Responses):
    def response_id(self) -> str:
        return f"resp_{self.server.generation.count() % 999999}"

    def stores(self, body: Mapping[str, Any]) -> bool:
        return False

    def is_background(self, body: Mapping[str, Any]) -> bool:
        """Nothing goes on there."""
        return False

    def begun_response(self, body: Mapping[str, Any]) -> Response:
        """What isn't sent, and what is never read."""
        begun = super().begun_response(body)
        for name in (
            *("conversation", "prompt", "moderation", "user", "prompt_cache_retention", "prompt_cache_options"),
        ):
            del begun[name]
        never = dict.fromkeys(("previous_response_id", "max_tool_calls", "safety_identifier", "prompt_cache_key"))
        zeros = dict.fromkeys(("presence_penalty", "frequency_penalty", "top_logprobs"), 0)
        always = {"tool_choice": "auto", "parallel_tool_calls": True, "metadata": {}, "store": False}
        return {**begun, **never, **zeros, **always, "background": bool(body.get("background"))}

    def echo(self, body: Mapping[str, Any]) -> dict[str, Any]:
        reasoning = {name: (body.get("reasoning") or {}).get(name) or None for name in ("effort", "summary")}
        if not body.get("stream"):
            reasoning = {name: value for name, value in reasoning.items() if value}
        return {**super().echo(body), "reasoning": reasoning if any(reasoning.values()) else None}

    def echoed_tools(self, body: Mapping[str, Any]) -> list[dict[str, Any]]:
        names = ("type", "name", "description", "strict", "parameters")
        return [{"name": "", **{name: tool.get(name) for name in names}} for tool in body.get("tools") or ()]

    def echoed_text(self, body: Mapping[str, Any]) -> dict[str, Any]:
        format = (body.get("text") or {}).get("format") or {"type": "text"}
        names = ("type", "name", "schema", "strict")
        return {"format": {name: format[name] for name in names if format.get(name) is not None}}

    def response_status(self, output: Output) -> str:
        """It is completed, even where it was cut off."""
        return "completed"

    def response(self, asked: Asked, begun: Response, output: Output, items: Sequence[Item]) -> Response:
        whole = super().response(asked, begun, output, items)
        return {**whole, "completed_at": self.server.http.now(), "incomplete_details": None}

    def response_usage(self, asked: Asked, output: Output) -> dict[str, Any]:
        details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
        return {**super().response_usage(asked, output), **details}


class OllamaItems(Items):
    def item_status(self, output: Output, *, last: bool) -> str:
        return "completed"

    def reasoning_item(self, asked: Asked, thoughts: str, status: str) -> Item:
        """The thoughts are their own summary, and nothing seals them."""
        return {
            "id": self.item_id("rs"),
            "type": "reasoning",
            "summary": [{"type": "summary_text", "text": thoughts}],
            "encrypted_content": thoughts,
        }

    def thoughts_of(self, item: Item, param: str) -> str:
        return str(item.get("encrypted_content") or "")

    def output_logprobs(self, asked: Asked, tokens: Sequence[Token]) -> list[dict[str, Any]]:
        return []

    def begun(self, item: Item) -> Item:
        if item["type"] == "reasoning":
            return {"id": item["id"], "type": "reasoning", "summary": []}
        return super().begun(item)


class OllamaItemEvents(ItemEvents):
    def arguments_done(self, item: Item, place: Mapping[str, Any]) -> Event:
        event = super().arguments_done(item, place)
        del event["name"]
        return event

    def call_events(self, pieces: list[Piece], item: Item, at: int) -> Iterator[Event]:
        """The arguments are one delta."""
        place = {"item_id": self.item_id_of(item), "output_index": at}
        yield self.arguments_delta(Piece("call", item["arguments"]), place)
        yield self.arguments_done(item, place)

    def part_events(
        self, asked: Asked, pieces: list[Piece], part: Mapping[str, Any], where: Mapping[str, Any]
    ) -> Iterator[Event]:
        """Nothing is around a summary's text."""
        events: Iterable[Event] = super().part_events(asked, pieces, part, where)
        yield from (event for event in events if "summary_part" not in event["type"])


PARTS = (
    OllamaGeneration,
    OllamaRequests,
    OllamaHttp,
    OllamaModels,
    OllamaTools,
    OllamaChat,
    OllamaCompletions,
    OllamaResponses,
    OllamaItems,
    OllamaItemEvents,
)
