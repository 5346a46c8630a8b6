"""llama.cpp b11434, on a model whose chat template has tools and reasoning. `answers/llama-cpp` is what it answers."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from dialects.stand_ins.common import CountsEnds, TheirChat, TheirCompletions, TheirHttp, TheirRequests
from reference_server.completions import Answers
from reference_server.generation import Asked, Output, Piece
from reference_server.http import Call, Event, Route
from reference_server.item_events import ItemEvents
from reference_server.items import Item, Items, Run
from reference_server.models import Models
from reference_server.refusal import Refusal
from reference_server.responses import Response, Responses
from reference_server.tokenize import Tokenize
from reference_server.tools import Tools
from reference_server.words import Token

from specvino.generated.errors import ErrorCode

TYPES = {400: "invalid_request_error", 401: "authentication_error", 404: "not_found_error", 500: "server_error"}
FINGERPRINT = "b11434-0f1e2d3"


def timings(prompt: int, made: int) -> dict[str, Any]:
    return {
        "cache_n": 0,
        "prompt_n": prompt,
        "prompt_ms": 2.0 * prompt,
        "prompt_per_token_ms": 2.0,
        "prompt_per_second": 500.0,
        "predicted_n": made,
        "predicted_ms": 4.0 * made,
        "predicted_per_token_ms": 4.0,
        "predicted_per_second": 250.0,
    }


class LlamaRequests(TheirRequests):
    """One model is served, under any name."""

    system = "llama-cpp"

    def accepted(self, call: Call, component: str) -> dict[str, Any]:
        for error in self.violations(component, call.body):
            raise self.refusal(component, error)
        body = {**self.given(call.body), "model": self.server.model}
        return {**body, "tool_choice": self.choice(body)} if "tool_choice" in body else body

    def choice(self, body: Mapping[str, Any]) -> Any:
        """What is no text counts as auto."""
        choice = body["tool_choice"]
        return choice if isinstance(choice, str) else "auto"


class LlamaHttp(TheirHttp):
    statuses: ClassVar = {
        ErrorCode.INVALID_API_KEY: 401,
        ErrorCode.NOT_FOUND: 404,
        ErrorCode.METHOD_NOT_ALLOWED: 404,
    }

    def envelope(self, refusal: Refusal) -> dict[str, Any]:
        status = self.status(refusal)
        return {"error": {"code": status, "message": refusal.message, "type": TYPES[status]}}


class LlamaModels(Models):
    def list_models(self, call: Call) -> dict[str, Any]:
        return {"models": [self.named(self.server.model)], **super().list_models(call)}

    def named(self, model: str) -> dict[str, Any]:
        """A model in Ollama's form, of which hardly anything is filled."""
        empty = dict.fromkeys(("parent_model", "family", "parameter_size", "quantization_level"), "")
        return {
            "name": model,
            "model": model,
            **dict.fromkeys(("modified_at", "size", "digest", "description", "parameters"), ""),
            "type": "model",
            "tags": [""],
            "capabilities": ["completion"],
            "details": {**empty, "format": "gguf", "families": [""]},
        }

    def described(self, model: str) -> dict[str, Any]:
        numbers = ("vocab_type", "n_vocab", "n_ctx", "n_ctx_train", "n_embd", "n_params", "size")
        return {
            **super().described(model),
            "owned_by": "llamacpp",
            "aliases": [model],
            "tags": [],
            "architecture": {"input_modalities": ["text"], "output_modalities": ["text"]},
            "meta": {**dict.fromkeys(numbers, 8192), "ftype": "Q4_1"},
        }


class LlamaTokenize(Tokenize):
    routes = (Route("POST", "/tokenize", "tokenize", root=True), Route("POST", "/detokenize", "detokenize", root=True))

    def detokenize(self, call: Call) -> dict[str, Any]:
        body = self.server.requests.accepted(call, "DetokenizeRequest")
        return {"content": self.text([int(each) for each in body.get("tokens", ())])}

    def tokenize(self, call: Call) -> dict[str, Any]:
        body = self.server.requests.accepted(call, "TokenizeRequest")
        content = body.get("content", [])
        parts = [content] if isinstance(content, str) else content
        encode = self.server.generation.words.encode
        return {"tokens": [id for part in parts for id in (encode(part) if isinstance(part, str) else [int(part)])]}


class LlamaTools(Tools):
    def refuse_unknown(self, name: str, param: str) -> None:
        """No function is chosen by its name."""


class LlamaGeneration(CountsEnds):
    def call_id(self) -> str:
        return f"{self.count():032x}"

    def output(self, asked: Asked, choice: int) -> Output:
        output = super().output(asked, choice)
        return replace(output, pieces=tuple(self.called(output.pieces)))

    def called(self, pieces: Iterable[Piece]) -> Iterator[Piece]:
        """A call is told of with the first text of its arguments."""
        begun = None
        for piece in pieces:
            if piece.id:
                begun = piece
            elif begun:
                yield replace(begun, text=piece.text, tokens=(*begun.tokens, *piece.tokens))
                begun = None
            else:
                yield piece


class LlamaChat(TheirChat):
    """Nothing is null but the content beside the role."""

    def chat_limit(self, body: Mapping[str, Any]) -> int | None:
        return limit(body)

    def chat_completion(self, head: Mapping[str, Any], asked: Asked, outputs: Sequence[Output]) -> dict[str, Any]:
        whole = super().chat_completion(head, asked, outputs)
        made = outputs[0].made
        return {**whole, "system_fingerprint": FINGERPRINT, "timings": timings(len(asked.prompt), made)}

    def chat_choice(self, asked: Asked, output: Output) -> dict[str, Any]:
        return without_null_logprobs(super().chat_choice(asked, output))

    def chat_message(self, asked: Asked, output: Output) -> dict[str, Any]:
        calls = [self.tool_call(each) for each in output.calls]
        thoughts = output.joined("thoughts")
        return {
            "role": "assistant",
            "content": output.joined("text"),
            **({"reasoning_content": thoughts} if thoughts else {}),
            **({"tool_calls": calls} if calls else {}),
        }

    def chat_thoughts(self, thoughts: str) -> dict[str, Any]:
        return {"reasoning_content": thoughts}

    def chat_usage(self, asked: Asked, outputs: Sequence[Output]) -> dict[str, Any]:
        return usage(len(asked.prompt), outputs[0].made)

    def chat_logprobs(self, asked: Asked, tokens: Sequence[Token]) -> dict[str, Any] | None:
        body = asked.body
        top = body.get("top_logprobs", 20) if body.get("logprobs") is True else int(body.get("logprobs") or 0)
        return {"content": [self.token_logprob(token, top) for token in tokens]} if top > 0 and tokens else None

    def shown_logprob(self, token: Token) -> dict[str, Any]:
        return {"id": token.id, **super().shown_logprob(token)}

    # The stream

    def ends_with_text(self, output: Output) -> bool:
        return False

    def chat_events(self, head: Mapping[str, Any], asked: Asked, outputs: Sequence[Output]) -> Iterator[Event]:
        """Each choice has its own usage, and timings in its last chunk."""
        for output in outputs:
            yield from self.beginning(head, asked, output)
        for output, piece in self.steps(outputs):
            for delta in self.deltas(asked, piece):
                yield self.piece_chunk(head, asked, output, piece, delta)
        for output in outputs:
            *before, last = [*self.finishes(head, asked, output), *self.usage_events(head, asked, [output])]
            yield from before
            yield {**last, "timings": timings(len(asked.prompt), output.made)}

    def role_delta(self) -> dict[str, Any]:
        return {"role": "assistant", "content": None}

    def function_delta(self, piece: Piece) -> dict[str, Any]:
        return {**({"name": piece.name} if piece.id else {}), "arguments": piece.text}

    def finishes(self, head: Mapping[str, Any], asked: Asked, output: Output) -> Iterator[Event]:
        """Without logprobs."""
        yield self.chat_chunk(head, asked, [self.chunk_choice(output, {}, self.chat_reason(asked, output))])

    def chunk_choice(
        self, output: Output, delta: Mapping[str, Any], reason: str | None = None, logprobs: Any = None
    ) -> dict[str, Any]:
        return without_null_logprobs(super().chunk_choice(output, delta, reason, logprobs))

    def chat_chunk(self, head: Mapping[str, Any], asked: Asked, choices: list[dict[str, Any]]) -> Event:
        return {**super().chat_chunk(head, asked, choices), "system_fingerprint": FINGERPRINT}


def limit(body: Mapping[str, Any]) -> int | None:
    """The first of the names that says anything; one token at least, and no limit below 0."""
    names = ("n_predict", "max_completion_tokens", "max_tokens", "max_output_tokens")
    found = next((int(body[name]) for name in names if name in body), -1)
    return None if found < 0 else max(found, 1)


def usage(prompt: int, made: int) -> dict[str, Any]:
    return {
        "completion_tokens": made,
        "prompt_tokens": prompt,
        "total_tokens": made + prompt,
        "prompt_tokens_details": {"cached_tokens": 0},
    }


def without_null_logprobs(choice: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in choice.items() if name != "logprobs" or value is not None}


class LlamaCompletions(TheirCompletions):
    def completion_id(self) -> str:
        return self.server.chat.chat_id()

    def completion_limit(self, body: Mapping[str, Any]) -> int | None:
        return limit(body)

    def prompts(self, prompt: Any) -> list[Any]:
        one = not isinstance(prompt, list) or any(isinstance(each, int) for each in prompt)
        return [prompt] if one else list(prompt)

    def prompt_ids(self, prompt: Any) -> list[int]:
        if isinstance(prompt, dict):
            return self.prompt_ids(prompt["prompt_string"])
        if not isinstance(prompt, list):
            return super().prompt_ids(prompt)
        ids = []
        for each in prompt:
            ids += super().prompt_ids(each if isinstance(each, str) else [each])
        return ids

    def echoed(self, asked: Asked) -> list[Token]:
        """Nothing, whatever is asked."""
        return []

    def completion(self, head: Mapping[str, Any], answers: Answers) -> dict[str, Any]:
        whole = super().completion(head, answers)
        asked, outputs = answers[0]
        times = timings(len(asked.prompt), outputs[0].made)
        return {**whole, "system_fingerprint": FINGERPRINT, "timings": times}

    def completion_usage(self, answers: Answers) -> dict[str, Any]:
        asked, outputs = answers[0]
        return usage(len(asked.prompt), outputs[0].made)

    def completion_logprobs(self, asked: Asked, tokens: Sequence[Token], offset: int) -> dict[str, Any] | None:
        """In chat's form."""
        return self.server.chat.chat_logprobs(asked, tokens)

    def completion_events(self, head: Mapping[str, Any], answers: Answers) -> Iterator[Event]:
        asked_of = {output.index: asked for asked, outputs in answers for output in outputs}
        every = [output for _, outputs in answers for output in outputs]
        for output, piece in self.server.chat.steps(every):
            yield self.text_chunk(head, asked_of[output.index], output, piece.tokens, dict.fromkeys(asked_of, 0))
        for output in every:
            asked = asked_of[output.index]
            chunk = self.completion_chunk(head, asked, [self.text_choice(output, "", None, output.reason)])
            prompt = len(asked.prompt)
            yield {**chunk, "usage": usage(prompt, output.made), "timings": timings(prompt, output.made)}

    def completion_chunk(self, head: Mapping[str, Any], asked: Asked, choices: list[dict[str, Any]]) -> Event:
        return {**super().completion_chunk(head, asked, choices), "system_fingerprint": FINGERPRINT}


class LlamaResponses(Responses):
    """Nothing of a request comes back, and nothing is kept."""

    def stores(self, body: Mapping[str, Any]) -> bool:
        return False

    def response_limit(self, body: Mapping[str, Any]) -> int | None:
        return limit(body)

    def begun_response(self, body: Mapping[str, Any]) -> Response:
        return {"id": self.response_id(), "object": "response", "status": "in_progress"}

    def response(self, asked: Asked, begun: Response, output: Output, items: Sequence[Item]) -> Response:
        now = self.server.http.now()
        return {
            **begun,
            "completed_at": now,
            "created_at": now,
            "model": self.server.model,
            "output": list(items),
            "status": "completed",
            "usage": self.response_usage(asked, output),
        }

    def response_usage(self, asked: Asked, output: Output) -> dict[str, Any]:
        return {
            "input_tokens": len(asked.prompt),
            "output_tokens": output.made,
            "total_tokens": len(asked.prompt) + output.made,
            "input_tokens_details": {"cached_tokens": 0},
        }

    def response_events(self, asked: Asked, begun: Response, output: Output, items: Sequence[Item]) -> Iterator[Event]:
        """What is streamed isn't said to be completed at a time."""
        for event in super().response_events(asked, begun, output, items):
            if event["type"] == "response.completed":
                whole = {name: value for name, value in event["response"].items() if name != "completed_at"}
                whole["output"] = [self.done(item) for item in whole["output"]]
                yield {**event, "response": whole, "timings": timings(len(asked.prompt), output.made)}
            elif event["type"] == "response.output_item.done":
                yield {**event, "item": self.done(event["item"])}
            else:
                yield event

    def done(self, item: Item) -> Item:
        """Reasoning that a stream has ended is without a status."""
        return {name: value for name, value in item.items() if name != "status" or item["type"] != "reasoning"}

    def numbered(self, events: Iterable[Event]) -> Iterator[Event]:
        """Events have neither numbers nor places."""
        for event in events:
            if not event["type"].endswith((".reasoning_text.done", ".function_call_arguments.done")):
                yield {name: value for name, value in event.items() if name not in PLACES}


PLACES = ("output_index", "content_index", "summary_index", "sequence_number", "logprobs")


class LlamaItems(Items):
    def runs(self, output: Output) -> list[Run]:
        """What says nothing is no item."""
        return [run for run in super().runs(output) if run[1]]

    def item_status(self, output: Output, *, last: bool) -> str:
        return "completed"

    def output_logprobs(self, asked: Asked, tokens: Sequence[Token]) -> list[dict[str, Any]]:
        return []

    def call_item(self, first: Piece, arguments: str, status: str) -> Item:
        item = super().call_item(first, arguments, status)
        return {**item, "id": f"fc_{first.id}", "call_id": f"call_{first.id}"}

    def reasoning_item(self, asked: Asked, thoughts: str, status: str) -> Item:
        return {
            "id": self.item_id("rs"),
            "summary": [],
            "type": "reasoning",
            "content": [{"text": thoughts, "type": "reasoning_text"}],
            "encrypted_content": "",
            "status": status,
        }

    def begun(self, item: Item) -> Item:
        begun = super().begun(item)
        return {**begun, "encrypted_content": ""} if item["type"] == "reasoning" else begun


class LlamaItemEvents(ItemEvents):
    def part_events(
        self, asked: Asked, pieces: list[Piece], part: Mapping[str, Any], where: Mapping[str, Any]
    ) -> Iterator[Event]:
        """The part of reasoning is neither opened nor closed."""
        for event in super().part_events(asked, pieces, part, where):
            if part["type"] == "output_text" or event["type"].endswith(".delta"):
                yield event

    def empty_part(self, part: Mapping[str, Any]) -> dict[str, Any]:
        return {"type": part["type"], "text": ""}


PARTS = (
    LlamaRequests,
    LlamaHttp,
    LlamaModels,
    LlamaTokenize,
    LlamaTools,
    LlamaGeneration,
    LlamaChat,
    LlamaCompletions,
    LlamaResponses,
    LlamaItems,
    LlamaItemEvents,
)
