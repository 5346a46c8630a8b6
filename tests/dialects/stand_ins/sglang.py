"""SGLang 0.5.23, with parsers for thoughts and calls, and with its store. `answers/sglang` has the sources."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from dialects.stand_ins.common import (
    NO_ROUTE,
    PHRASES,
    CountsEnds,
    TheirChat,
    TheirCompletions,
    TheirHttp,
    TheirRequests,
)
from reference_server.completions import Answers
from reference_server.generation import CONTEXT, Asked, Output, Piece
from reference_server.http import Call, Event, Headers, Route
from reference_server.item_events import ItemEvents
from reference_server.items import Item, Items, Run
from reference_server.models import SINCE, Models
from reference_server.refusal import Refusal
from reference_server.responses import Response, Responses
from reference_server.stored import Stored
from reference_server.tokenize import Tokenize
from reference_server.words import Token

from specvino.generated.errors import ErrorCode

END_OF_TURN = 151645
"""The token that ends a turn."""

UNNAMED = "default"
"""The model of a request that names none."""

SHOWN_EFFORTS = ("minimal", "low", "medium", "high")


class SglangRequests(TheirRequests):
    system = "sglang"

    def accepted(self, call: Call, component: str) -> dict[str, Any]:
        """Only responses look whether there is such a model."""
        named = call.body.get("model") if isinstance(call.body, dict) else None
        if component == "CreateResponseRequest":
            return super().accepted(call, component)
        for error in self.violations(component, call.body):
            raise self.refusal(component, error)
        return {"model": named or UNNAMED, **self.given(call.body)}


class SglangHttp(TheirHttp):
    """Errors are objects of their own; those of responses and of a model are as OpenAI has them."""

    statuses: ClassVar = {
        **NO_ROUTE,
        ErrorCode.INVALID_API_KEY: 401,
        ErrorCode.MODEL_NOT_FOUND: 404,
        ErrorCode.RESPONSE_NOT_FOUND: 404,
    }

    async def refuse(self, call: Call, refusal: Refusal) -> None:
        status = self.status(refusal)
        headers: Headers = [(b"content-type", b"application/json")]
        await self.respond(call, status, self.encode(self.error(call, refusal, status)), headers)

    def error(self, call: Call, refusal: Refusal, status: int) -> dict[str, Any]:
        if status == 401:
            return {"error": "Unauthorized"}
        if refusal.code in NO_ROUTE:
            return {"detail": PHRASES[status]}
        said: dict[str, Any] = {"message": refusal.message, "type": "invalid_request_error", "code": status}
        if "/models/" in call.path:
            return {"error": {**said, "param": "model", "code": "model_not_found"}}
        if "/responses" in call.path:
            return {"error": {**said, "param": refusal.param if status == 404 else None}}
        return {"object": "error", **said, "type": "Bad Request", "param": None}


class SglangModels(Models):
    def described(self, model: str) -> dict[str, Any]:
        more = {"root": model, "parent": None, "max_model_len": CONTEXT}
        return {"id": model, "object": "model", "created": SINCE, "owned_by": "sglang", **more}

    def health(self, call: Call) -> Any:
        return None


class SglangTokenize(Tokenize):
    routes = (Route("POST", "/tokenize", "tokenize", root=True), Route("POST", "/detokenize", "detokenize", root=True))

    def detokenize(self, call: Call) -> dict[str, Any]:
        return {"text": super().detokenize(call)["prompt"]}

    def tokenize(self, call: Call) -> dict[str, Any]:
        body = self.server.requests.accepted(call, "TokenizeRequest")
        encode = self.server.generation.words.encode
        prompt = body.get("prompt")
        if isinstance(prompt, list):
            every = [encode(each) for each in prompt]
            return {"tokens": every, "count": [len(each) for each in every], "max_model_len": CONTEXT}
        turns = [self.server.chat.turn(each, "messages") for each in body.get("messages", ())]
        found = encode(self.server.chat.rendered(turns) if prompt is None else prompt)
        return {"tokens": found, "count": len(found), "max_model_len": CONTEXT}


class SglangGeneration(CountsEnds):
    def call_id(self) -> str:
        return f"call_{self.count():024x}"


def matched(reason: str) -> int | None:
    """What ended the text: nothing but the limit is without."""
    return None if reason == "length" else END_OF_TURN


def with_details(usage: Mapping[str, Any], thought: int) -> dict[str, Any]:
    return {
        **usage,
        "prompt_tokens_details": None,
        "reasoning_tokens": thought,
        "completion_tokens_details": {"reasoning_tokens": thought} if thought else None,
    }


class SglangChat(TheirChat):
    def chat_id(self) -> str:
        return f"{self.server.generation.count():032x}"

    def chat_limit(self, body: Mapping[str, Any]) -> int | None:
        """Neither name's 0 is the newer one's."""
        limit: int | None = body.get("max_completion_tokens") or body.get("max_tokens")
        return limit

    def chat_completion(self, head: Mapping[str, Any], asked: Asked, outputs: Sequence[Output]) -> dict[str, Any]:
        return {**super().chat_completion(head, asked, outputs), "metadata": {"weight_version": "default"}}

    def chat_choice(self, asked: Asked, output: Output) -> dict[str, Any]:
        ends = None if output.reason == "tool_calls" else matched(output.reason)
        return {**super().chat_choice(asked, output), "matched_stop": ends}

    def chat_message(self, asked: Asked, output: Output) -> dict[str, Any]:
        message: dict[str, Any] = {
            "role": "assistant",
            "content": output.joined("text"),
            "reasoning_content": output.joined("thoughts") or None,
        }
        if output.calls:
            calls = [{**self.tool_call(each), "index": at} for at, each in enumerate(output.calls)]
            message["tool_calls"] = calls
        return message

    def chat_usage(self, asked: Asked, outputs: Sequence[Output]) -> dict[str, Any]:
        return with_details(super().chat_usage(asked, outputs), sum(output.thought for output in outputs))

    def chat_logprobs(self, asked: Asked, tokens: Sequence[Token]) -> dict[str, Any] | None:
        """top_logprobs alone ask for nothing."""
        found = super().chat_logprobs(asked, tokens) if asked.body.get("logprobs") else None
        return found and {"content": found["content"]}

    def token_bytes(self, token: Token) -> list[int] | None:
        return list(token.text.encode())

    # The stream

    def beginning(self, head: Mapping[str, Any], asked: Asked, output: Output) -> Iterator[Event]:
        delta = {"reasoning_content": None, "role": "assistant", "content": ""}
        yield self.chat_chunk(head, asked, [self.chunk_choice(output, delta)])

    def ends_with_text(self, output: Output) -> bool:
        """The end comes of its own."""
        return False

    def deltas(self, asked: Asked, piece: Piece) -> Iterator[dict[str, Any]]:
        """Text without what isn't set, calls with all."""
        match piece.kind:
            case "text":
                yield {"reasoning_content": None, "content": piece.text}
            case "thoughts":
                yield {"reasoning_content": piece.text}
            case "call":
                yield {"role": None, "content": None, "reasoning_content": None, "tool_calls": [self.call_delta(piece)]}

    def call_delta(self, piece: Piece) -> dict[str, Any]:
        function = {"name": piece.name if piece.id else None, "arguments": "" if piece.id else piece.text}
        return {"id": piece.id or None, "index": piece.call, "type": "function", "function": function}

    def finishes(self, head: Mapping[str, Any], asked: Asked, output: Output) -> Iterator[Event]:
        """Where a parser is at work, logprobs without a text come in a chunk before."""
        nothing = {"reasoning_content": None}
        if logprobs := self.chat_logprobs(asked, output.rest):
            yield self.chat_chunk(head, asked, [self.chunk_choice(output, nothing, logprobs=logprobs)])
        yield self.chat_chunk(head, asked, [self.chunk_choice(output, nothing, self.chat_reason(asked, output))])

    def chunk_choice(
        self, output: Output, delta: Mapping[str, Any], reason: str | None = None, logprobs: Any = None
    ) -> dict[str, Any]:
        ends = None if reason is None else matched(reason)
        return {**super().chunk_choice(output, delta, reason, logprobs), "matched_stop": ends}

    def chat_chunk(self, head: Mapping[str, Any], asked: Asked, choices: list[dict[str, Any]]) -> Event:
        """Each of several choices has an id of its own; what a class writes has the usage, too."""
        chunk = super().chat_chunk(own_head(head, choices), asked, choices)
        calls = any("tool_calls" in choice["delta"] for choice in choices)
        return {**chunk, "usage": None} if calls else chunk


def own_head(head: Mapping[str, Any], choices: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    own = f"{int(str(head['id']), 16) + (choices[0]['index'] << 64):032x}" if choices else head["id"]
    return {**head, "id": own}


class SglangCompletions(TheirCompletions):
    echoes_with_text = True

    def completion_id(self) -> str:
        return f"{self.server.generation.count():032x}"

    def completion_limit(self, body: Mapping[str, Any]) -> int | None:
        return int(body.get("max_tokens", 16))

    def completion(self, head: Mapping[str, Any], answers: Answers) -> dict[str, Any]:
        return {**super().completion(head, answers), "metadata": {"weight_version": "default"}}

    def completion_choice(self, asked: Asked, output: Output) -> dict[str, Any]:
        shown = [*self.told(asked), *output.tokens]
        return {
            **super().completion_choice(asked, output),
            "logprobs": self.completion_logprobs(asked, shown, 0),
            "matched_stop": matched(output.reason),
        }

    def told(self, asked: Asked) -> list[Token]:
        """The prompt's tokens, whose logprobs are told: for none but the drawn ones they aren't."""
        return self.echoed(asked) if asked.body.get("logprobs") else []

    def completion_usage(self, answers: Answers) -> dict[str, Any]:
        return with_details(super().completion_usage(answers), 0)

    def completion_logprobs(self, asked: Asked, tokens: Sequence[Token], offset: int) -> dict[str, Any] | None:
        """No list is null."""
        found = super().completion_logprobs(asked, tokens, offset)
        return found and {**found, "top_logprobs": found["top_logprobs"] or []}

    def text_offsets(self, tokens: Sequence[Token], offset: int) -> list[int]:
        """Nobody counts them."""
        return [-1 for _ in tokens]

    def text_choice(self, output: Output, text: str, logprobs: Any, reason: str | None = None) -> dict[str, Any]:
        ends = None if reason is None else matched(reason)
        return {**super().text_choice(output, text, logprobs, reason), "matched_stop": ends}

    def completion_chunk(self, head: Mapping[str, Any], asked: Asked, choices: list[dict[str, Any]]) -> Event:
        return {**super().completion_chunk(own_head(head, choices), asked, choices), "usage": None}

    def completion_usage_events(self, head: Mapping[str, Any], answers: Answers) -> Iterator[Event]:
        """Without nulls."""
        for event in super().completion_usage_events(head, answers):
            yield {**event, "usage": {name: value for name, value in event["usage"].items() if value is not None}}


class SglangResponses(Responses):
    def response_limit(self, body: Mapping[str, Any]) -> int | None:
        """Two are taken off."""
        limit: int | None = body.get("max_output_tokens")
        return None if limit is None else max(limit - 2, 0)

    def begun_response(self, body: Mapping[str, Any]) -> Response:
        return {
            "id": self.response_id(),
            "object": "response",
            "created_at": self.server.http.now(),
            "model": body["model"],
            "output": [],
            "status": "queued" if self.is_background(body) and not body.get("stream") else "in_progress",
            "usage": None,
            "error": None,
            "incomplete_details": None,
            "previous_response_id": body.get("previous_response_id"),
            "store": body.get("store", True),
            **self.echo(body),
        }

    def echo(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """What the request has, null where it has nothing."""
        effort = (body.get("reasoning") or {}).get("effort", "medium" if body.get("reasoning") else None)
        given = ("instructions", "max_output_tokens", "temperature", "top_p", "user")
        return {
            **{name: body.get(name) for name in given},
            "parallel_tool_calls": self.server.tools.several(body),
            "tool_choice": self.echoed_choice(body.get("tool_choice", "auto")),
            "tools": self.echoed_tools(body),
            "truncation": body.get("truncation", "disabled"),
            "metadata": self.echoed_metadata(body),
            "reasoning": {"effort": effort if effort in SHOWN_EFFORTS else None, "summary": None},
            "text": body.get("text"),
        }

    def echoed_choice(self, choice: Any) -> Any:
        """auto in place of what names no function or custom tool."""
        flat = super().echoed_choice(choice)
        if not isinstance(flat, Mapping):
            return flat
        named = flat.get("type") in ("function", "custom") and flat.get("name")
        return {"type": flat["type"], "name": flat["name"]} if named else "auto"

    def echoed_tools(self, body: Mapping[str, Any]) -> list[dict[str, Any]]:
        """As a class writes them: with each of its names."""
        names = ("name", "description", "parameters", "tools", "defer_loading", "format")
        return [{**dict.fromkeys(names), "strict": False, **tool} for tool in body.get("tools") or ()]

    def response(self, asked: Asked, begun: Response, output: Output, items: Sequence[Item]) -> Response:
        whole = super().response(asked, begun, output, items)
        del whole["completed_at"]
        says_text_alone = all(item["type"] == "message" for item in items)
        return {**whole, "text": whole["text"] or ({"format": {"type": "text"}} if items and says_text_alone else None)}


class SglangStored(Stored):
    def keep(self, begun: Response, whole: Response, taken: Sequence[Item], events: Sequence[Event]) -> Response:
        return super().keep({**begun, "background": begun["status"] == "queued"}, whole, taken, events)

    def looked_at(self, record: Any) -> Response:
        return without_background(super().looked_at(record))

    def cancel_response(self, call: Call) -> Response:
        """What isn't under way is answered as it is."""
        record = self.record(call.parameters["response_id"])
        if record.now["status"] in ("queued", "in_progress"):
            record.now = self.cancelled(record.now)
        return without_background(record.now)


def without_background(response: Response) -> Response:
    return {name: value for name, value in response.items() if name != "background"}


class SglangItems(Items):
    def runs(self, output: Output) -> list[Run]:
        """What says nothing is no item."""
        return [(kind, pieces) for kind, pieces in super().runs(output) if kind == "call" or pieces]

    def items(self, asked: Asked, output: Output) -> list[Item]:
        """A text before calls is a comment."""
        found = super().items(asked, output)
        calls = any(item["type"] == "function_call" for item in found)
        phase = {"phase": "commentary" if calls else "final_answer"}
        return [{**item, **phase} if item["type"] == "message" else item for item in found]

    def item_status(self, output: Output, *, last: bool) -> str:
        """Only a call is cut off."""
        is_call = bool(output.pieces) and output.pieces[-1].kind == "call"
        return "incomplete" if last and is_call and output.reason == "length" else "completed"

    def text_part(self, text: str, logprobs: list[dict[str, Any]]) -> dict[str, Any]:
        return {**super().text_part(text, logprobs), "logprobs": logprobs or None}

    def output_logprobs(self, asked: Asked, tokens: Sequence[Token]) -> list[dict[str, Any]]:
        """top_logprobs alone ask for nothing."""
        included = "message.output_text.logprobs" in (asked.body.get("include") or ())
        return super().output_logprobs(asked, tokens) if included else []

    def reasoning_item(self, asked: Asked, thoughts: str, status: str) -> Item:
        """The summary is the reasoning itself."""
        content = [{"type": "reasoning_text", "text": thoughts}]
        return {**super().reasoning_item(asked, thoughts, status), "content": content}


class SglangItemEvents(ItemEvents):
    def item_events(self, asked: Asked, run: Run, item: Item, at: int) -> Iterator[Event]:
        """With a summary the pieces are the summary's alone."""
        if not item.get("summary"):
            yield from super().item_events(asked, run, item, at)
            return
        yield self.item_added(item, at)
        place = {"item_id": self.item_id_of(item), "output_index": at}
        yield from self.part_events(asked, run[1], item["summary"][0], place)
        yield self.item_done(item, at)

    def empty_part(self, part: Mapping[str, Any]) -> dict[str, Any]:
        return {**part, "text": "", **({"logprobs": None} if "logprobs" in part else {})}

    def part_text_done(self, part: Mapping[str, Any], inside: str, place: Mapping[str, Any]) -> Event:
        event = super().part_text_done(part, inside, place)
        return {**event, "logprobs": []} if "logprobs" in event else event


PARTS = (
    SglangGeneration,
    SglangRequests,
    SglangHttp,
    SglangModels,
    SglangTokenize,
    SglangChat,
    SglangCompletions,
    SglangResponses,
    SglangStored,
    SglangItems,
    SglangItemEvents,
)
