"""vLLM 0.33.0. `answers/vllm` has the sources."""

from collections.abc import Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import Any, ClassVar

from dialects.stand_ins.common import (
    NO_ROUTE,
    CountsEnds,
    TheirChat,
    TheirCompletions,
    TheirHttp,
    TheirRequests,
    permission,
)
from reference_server.completions import Answers
from reference_server.generation import CONTEXT, Asked, Output, Piece
from reference_server.http import Call, Event, Route
from reference_server.item_events import ItemEvents
from reference_server.items import Item, Items
from reference_server.models import SINCE, Models
from reference_server.refusal import Refusal
from reference_server.responses import Response, Responses
from reference_server.tokenize import Tokenize
from reference_server.words import Token

from specvino.generated.errors import ErrorCode

FINGERPRINT = "vllm-0.33.0-1f3a5c7e"


class VllmRequests(TheirRequests):
    system = "vllm"


class VllmHttp(TheirHttp):
    statuses: ClassVar = {
        **NO_ROUTE,
        ErrorCode.INVALID_API_KEY: 401,
        ErrorCode.MODEL_NOT_FOUND: 404,
        ErrorCode.RESPONSE_NOT_FOUND: 404,
    }

    def envelope(self, refusal: Refusal) -> dict[str, Any]:
        status = self.status(refusal)
        if status == 401:
            return {"error": "Unauthorized"}
        kind = "NotFoundError" if refusal.code is ErrorCode.MODEL_NOT_FOUND else HTTPStatus(status).phrase
        return {"error": {"message": refusal.message, "type": kind, "param": refusal.param, "code": status}}

    def route(self, call: Call) -> Route:
        """What stands at the root isn't below /v1, too."""
        route = super().route(call)
        if route.root and self.without_base(call.path)[1]:
            raise Refusal(ErrorCode.NOT_FOUND, "Not Found")
        return route


class VllmTokenize(Tokenize):
    routes = (Route("POST", "/tokenize", "tokenize", root=True), Route("POST", "/detokenize", "detokenize", root=True))

    def tokenize(self, call: Call) -> dict[str, Any]:
        body = self.server.requests.accepted(call, "TokenizeRequest")
        turns = [self.server.chat.turn(each, "messages") for each in body.get("messages", ())]
        found = self.server.generation.words.encode(
            body["prompt"] if "prompt" in body else self.server.chat.rendered(turns)
        )
        texts = [self.server.generation.words.text_of(id) for id in found] if body.get("return_token_strs") else None
        return {"count": len(found), "max_model_len": CONTEXT, "tokens": found, "token_strs": texts}


class VllmModels(Models):
    def described(self, model: str) -> dict[str, Any]:
        more = {"root": model, "parent": None, "max_model_len": CONTEXT, "permission": [permission()]}
        return {"id": model, "object": "model", "created": SINCE, "owned_by": "vllm", **more}

    def health(self, call: Call) -> Any:
        return None


def details(usage: dict[str, Any], thought: int | None) -> dict[str, Any]:
    """Usage with what is null without flags, and without a parser of thoughts."""
    reasoning = None if thought is None else {"reasoning_tokens": thought}
    return {**usage, "prompt_tokens_details": None, "completion_tokens_details": reasoning}


def without_nulls(usage: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in usage.items() if value is not None}


class VllmChat(TheirChat):
    """With parsers for thoughts and calls."""

    def chat_completion(self, head: Mapping[str, Any], asked: Asked, outputs: Sequence[Output]) -> dict[str, Any]:
        nulls = dict.fromkeys(
            (
                "prompt_logprobs",
                "prompt_token_ids",
                "prompt_text",
                "kv_transfer_params",
                "ec_transfer_params",
                "metrics",
            )
        )
        whole = super().chat_completion(head, asked, outputs)
        return {**whole, "service_tier": None, "system_fingerprint": FINGERPRINT, **nulls}

    def chat_choice(self, asked: Asked, output: Output) -> dict[str, Any]:
        nulls = dict.fromkeys(("stop_reason", "token_ids", "routed_experts", "weight_versions"))
        return {**super().chat_choice(asked, output), **nulls}

    def chat_message(self, asked: Asked, output: Output) -> dict[str, Any]:
        message = super().chat_message(asked, output)
        if asked.offer.forced:
            message["content"] = message["content"] or ""
        return {**dict.fromkeys(("annotations", "audio", "function_call", "reasoning")), **message}

    def chat_thoughts(self, thoughts: str) -> dict[str, Any]:
        return {"reasoning": thoughts}

    def chat_reason(self, asked: Asked, output: Output) -> str:
        named = isinstance(asked.body.get("tool_choice"), Mapping)
        return "stop" if named and output.reason == "tool_calls" else output.reason

    def chat_usage(self, asked: Asked, outputs: Sequence[Output]) -> dict[str, Any]:
        return details(
            super().chat_usage(asked, outputs), sum(output.thought for output in outputs) if asked.thinks else None
        )

    def chat_logprobs(self, asked: Asked, tokens: Sequence[Token]) -> dict[str, Any] | None:
        found = super().chat_logprobs(asked, tokens)
        return found and {"content": found["content"]}

    def token_bytes(self, token: Token) -> list[int] | None:
        return list(token.text.encode())

    # The stream

    def role_delta(self) -> dict[str, Any]:
        return {"role": "assistant", "content": ""}

    def beginning(self, head: Mapping[str, Any], asked: Asked, output: Output) -> Iterator[Event]:
        chunk = super().chat_chunk(head, asked, [super().chunk_choice(output, self.role_delta())])
        yield {**chunk, "prompt_token_ids": None, "prompt_text": None}

    def deltas(self, asked: Asked, piece: Piece) -> Iterator[dict[str, Any]]:
        """Each way to a call writes it otherwise: later parts name null where a call is required; the parser of Hermes
        has a null text beside."""
        choice = asked.body.get("tool_choice", "auto")
        for delta in super().deltas(asked, piece):
            if piece.kind == "call" and choice == "auto":
                if piece.id:
                    del delta["tool_calls"][0]["function"]["arguments"]
                delta = {"content": None, **delta}
            elif piece.kind == "call" and choice == "required" and not piece.id:
                delta["tool_calls"][0]["function"] = {"name": None, "arguments": piece.text}
            yield delta

    def chunk_choice(
        self, output: Output, delta: Mapping[str, Any], reason: str | None = None, logprobs: Any = None
    ) -> dict[str, Any]:
        ends = {"stop_reason": None, "token_ids": None, "weight_versions": None}
        more = ends if reason is not None else {"token_ids": None}
        return {**super().chunk_choice(output, delta, reason, logprobs), **more}

    def finishes(self, head: Mapping[str, Any], asked: Asked, output: Output) -> Iterator[Event]:
        """A parser has nothing to say at the end of a call."""
        reason, logprobs = self.chat_reason(asked, output), self.chat_logprobs(asked, output.rest)
        delta = {} if output.calls else {"content": ""}
        yield self.chat_chunk(head, asked, [self.chunk_choice(output, delta, reason, logprobs)])

    def chat_chunk(self, head: Mapping[str, Any], asked: Asked, choices: list[dict[str, Any]]) -> Event:
        chunk = super().chat_chunk(head, asked, choices)
        if not choices:
            return {**chunk, "system_fingerprint": FINGERPRINT}
        ends = choices[0]["finish_reason"] is not None and not self.wants_usage(asked)
        return {**chunk, **({"system_fingerprint": FINGERPRINT} if ends else {}), "kv_transfer_params": None}

    def usage_events(self, head: Mapping[str, Any], asked: Asked, outputs: Sequence[Output]) -> Iterator[Event]:
        for chunk in super().usage_events(head, asked, outputs):
            yield {**chunk, "usage": without_nulls(chunk["usage"])}


class VllmCompletions(TheirCompletions):
    echoes_with_text = True

    def completion(self, head: Mapping[str, Any], answers: Answers) -> dict[str, Any]:
        nulls = dict.fromkeys(("service_tier", "kv_transfer_params", "ec_transfer_params", "metrics"))
        return {**super().completion(head, answers), "system_fingerprint": FINGERPRINT, **nulls}

    def completion_choice(self, asked: Asked, output: Output) -> dict[str, Any]:
        nulls = ("stop_reason", "token_ids", "prompt_logprobs", "prompt_token_ids", "routed_experts", "weight_versions")
        found = {**super().completion_choice(asked, output), **dict.fromkeys(nulls)}
        if (tokens := self.echoed(asked)) and found["logprobs"]:
            found["prompt_logprobs"] = [each.logprob and {each.id: self.described(each)} for each in tokens]
        return found

    def described(self, token: Token) -> dict[str, Any]:
        return {"logprob": token.logprob, "rank": 1, "decoded_token": token.text}

    def completion_usage(self, answers: Answers) -> dict[str, Any]:
        return details(super().completion_usage(answers), None)

    def completion_logprobs(self, asked: Asked, tokens: Sequence[Token], offset: int) -> dict[str, Any] | None:
        """The chosen token is among the likeliest where no other is asked for."""
        found = super().completion_logprobs(asked, tokens, offset)
        if found and not found["top_logprobs"]:
            found["top_logprobs"] = [each.logprob and {each.text: each.logprob} for each in tokens]
        return found

    def text_choice(self, output: Output, text: str, logprobs: Any, reason: str | None = None) -> dict[str, Any]:
        nulls = ("stop_reason", "prompt_token_ids", "token_ids", "weight_versions")
        return {**super().text_choice(output, text, logprobs, reason), **dict.fromkeys(nulls)}

    def completion_chunk(self, head: Mapping[str, Any], asked: Asked, choices: list[dict[str, Any]]) -> Event:
        chunk = super().completion_chunk(head, asked, choices)
        if not choices:
            return {**chunk, "system_fingerprint": FINGERPRINT}
        ends = choices[0]["finish_reason"] is not None and not self.server.chat.wants_usage(asked)
        return {**chunk, **({"system_fingerprint": FINGERPRINT} if ends else {}), "kv_transfer_params": None}

    def completion_usage_events(self, head: Mapping[str, Any], answers: Answers) -> Iterator[Event]:
        for chunk in super().completion_usage_events(head, answers):
            yield {**chunk, "usage": without_nulls(chunk["usage"])}


NOT_SENT = ("completed_at", "error", "conversation", "store", "moderation")


class VllmResponses(Responses):
    def begun_response(self, body: Mapping[str, Any]) -> Response:
        begun = super().begun_response(body)
        nulls = dict.fromkeys(("kv_transfer_params", "ec_transfer_params", "input_messages", "output_messages"))
        kept = {name: value for name, value in begun.items() if name not in NOT_SENT}
        return {**kept, "service_tier": body.get("service_tier", "auto"), **nulls}

    def echo(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """What the request has, null where it has nothing."""
        included = "message.output_text.logprobs" in (body.get("include") or ())
        return {
            **super().echo(body),
            "tool_choice": body.get("tool_choice", "auto") if body.get("tools") else "none",
            "max_output_tokens": body.get("max_output_tokens", 8000),
            "top_logprobs": body.get("top_logprobs", 0) if included else None,
            "metadata": body.get("metadata"),
            "reasoning": self.written(body.get("reasoning"), "context effort generate_summary mode summary"),
            "text": self.written(body.get("text"), "format verbosity"),
        }

    def written(self, given: Mapping[str, Any] | None, names: str) -> dict[str, Any] | None:
        """An object as a class writes it: with each of its names."""
        if given is None:
            return None
        whole: dict[str, Any] = {name: given.get(name) for name in names.split()}
        if isinstance(whole.get("format"), Mapping) and whole["format"]["type"] == "json_schema":
            whole["format"] = {"description": None, "strict": None, **whole["format"]}
        return whole

    def echoed_tools(self, body: Mapping[str, Any]) -> list[dict[str, Any]]:
        names = ("strict", "allowed_callers", "async", "defer_loading", "description", "output_schema")
        return [{**dict.fromkeys(names), **tool} for tool in super().echoed_tools(body)]

    def first_events(self, begun: Response) -> Iterator[Event]:
        """None that it waits."""
        yield from ({**event} for event in super().first_events(begun) if event["type"] != "response.queued")

    def response(self, asked: Asked, begun: Response, output: Output, items: Sequence[Item]) -> Response:
        whole = super().response(asked, begun, output, items)
        del whole["completed_at"]
        return whole

    def response_usage(self, asked: Asked, output: Output) -> dict[str, Any]:
        usage = super().response_usage(asked, output)
        usage["input_tokens_details"] |= {"input_tokens_per_turn": [], "cached_tokens_per_turn": []}
        usage["output_tokens_details"] |= {
            "tool_output_tokens": 0,
            "output_tokens_per_turn": [],
            "tool_output_tokens_per_turn": [],
        }
        return usage


class VllmItems(Items):
    def message_item(self, part: Mapping[str, Any], status: str) -> Item:
        return {**super().message_item(part, status), "phase": None}

    def text_part(self, text: str, logprobs: list[dict[str, Any]]) -> dict[str, Any]:
        return {**super().text_part(text, logprobs), "logprobs": logprobs or None}

    def call_item(self, first: Piece, arguments: str, status: str) -> Item:
        return {**super().call_item(first, arguments, status), **dict.fromkeys(("async", "caller", "namespace"))}

    def reasoning_item(self, asked: Asked, thoughts: str, status: str) -> Item:
        """Its status is null, except in events."""
        return {
            **super().reasoning_item(asked, thoughts, status),
            "status": None if not asked.body.get("stream") else status,
        }

    def wants_summary(self, asked: Asked) -> bool:
        return False

    def sealed(self, asked: Asked, thoughts: str) -> str | None:
        return None

    def begun(self, item: Item) -> Item:
        new = super().begun(item)
        return {**new, "content": None} if item["type"] == "reasoning" else new


class VllmItemEvents(ItemEvents):
    def part_delta(self, asked: Asked, piece: Piece, inside: str, place: Mapping[str, Any]) -> Event:
        """Of logprobs the bytes are left out."""
        event = super().part_delta(asked, piece, inside, place)
        for each in event.get("logprobs", ()):
            for one in (each, *each["top_logprobs"]):
                del one["bytes"]
        return event

    def part_text_done(self, part: Mapping[str, Any], inside: str, place: Mapping[str, Any]) -> Event:
        event = super().part_text_done(part, inside, place)
        return {**event, "logprobs": []} if "logprobs" in event else event


PARTS = (
    CountsEnds,
    VllmRequests,
    VllmHttp,
    VllmModels,
    VllmTokenize,
    VllmChat,
    VllmCompletions,
    VllmResponses,
    VllmItems,
    VllmItemEvents,
)
