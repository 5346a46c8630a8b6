"""MLC-LLM 79d603f. `answers/mlc-llm` has the sources."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from dialects.stand_ins.common import NO_ROUTE, PHRASES, Steered, TheirChat, TheirCompletions, TheirHttp, TheirRequests
from reference_server.completions import Answers
from reference_server.generation import Asked, Output, Piece
from reference_server.http import Call, Event
from reference_server.models import Models
from reference_server.refusal import Refusal
from reference_server.words import Token

from specvino.generated.errors import ErrorCode


def visible(text: str) -> str:
    """Returns what the engine shows of a token's text."""
    return "".join(each for each in text if "!" <= each <= "~")


class MlcRequests(TheirRequests):
    system = "mlc-llm"


class MlcHttp(TheirHttp):
    """It serves two models, since with one it takes any name."""

    statuses: ClassVar = {**NO_ROUTE, ErrorCode.INVALID_API_KEY: 401, ErrorCode.MODEL_NOT_FOUND: 400}
    mistake = 422

    def envelope(self, refusal: Refusal) -> Any:
        match self.status(refusal):
            case 400:
                return json.dumps({"object": "error", "message": refusal.message, "code": 400})
            case 401:
                return {"detail": "Invalid API Key"}
            case 422:
                place = ["body", *(refusal.param or "").split(".")]
                return {"detail": [{"type": "missing", "loc": place, "msg": refusal.message, "input": {"model": ""}}]}
            case status:
                return {"detail": PHRASES[status]}


class MlcModels(Models):
    def list_models(self, call: Call) -> dict[str, Any]:
        return {"object": "list", "data": [self.described(self.server.model), self.described("./dist/other")]}

    def described(self, model: str) -> dict[str, Any]:
        return {**super().described(model), "owned_by": "MLC-LLM"}


class MlcChat(TheirChat):
    def chat_completion(self, head: Mapping[str, Any], asked: Asked, outputs: Sequence[Output]) -> dict[str, Any]:
        return {**super().chat_completion(head, asked, outputs), "system_fingerprint": ""}

    def chat_message(self, asked: Asked, output: Output) -> dict[str, Any]:
        """A call that was cut off can't be read, so it stays text."""
        if output.reason == "length" or not output.calls:
            return self.message(output.joined("text") + output.joined("call"))
        return self.message(None, [self.tool_call(each) for each in output.calls])

    def message(self, text: str | None, calls: Any = None) -> dict[str, Any]:
        return {"content": text, "role": "assistant", "name": None, "tool_calls": calls, "tool_call_id": None}

    def function(self, called: Mapping[str, str]) -> dict[str, Any]:
        """Arguments are an object."""
        return {"name": called["name"], "arguments": json.loads(called["arguments"])}

    def chat_reason(self, asked: Asked, output: Output) -> str:
        """With functions anything but a whole call is an error."""
        if not asked.offer.functions:
            return output.reason
        is_read = output.calls and output.reason != "length"
        return "tool_calls" if is_read or asked.body.get("stream") else "error"

    def chat_usage(self, asked: Asked, outputs: Sequence[Output]) -> dict[str, Any]:
        usage = super().chat_usage(asked, outputs)
        del usage["completion_tokens_details"]
        return {**usage, "extra": None}

    def chat_logprobs(self, asked: Asked, tokens: Sequence[Token]) -> dict[str, Any] | None:
        found = super().chat_logprobs(asked, tokens)
        return found and {"content": found["content"]}

    def shown_logprob(self, token: Token) -> dict[str, Any]:
        return {**super().shown_logprob(token), "token": visible(token.text)}

    # The stream: the role and the usage are in each chunk, and a chunk has a step of all choices.

    def beginning(self, head: Mapping[str, Any], asked: Asked, output: Output) -> Iterator[Event]:
        return iter(())

    def deltas(self, asked: Asked, piece: Piece) -> Iterator[dict[str, Any]]:
        """A call is a text."""
        yield self.message(f"{piece.name}(" if piece.id else piece.text)

    def finishes(self, head: Mapping[str, Any], asked: Asked, output: Output) -> Iterator[Event]:
        reason, logprobs = self.chat_reason(asked, output), self.chat_logprobs(asked, output.rest)
        yield self.chat_chunk(head, asked, [self.chunk_choice(output, self.message(""), reason, logprobs)])

    def chat_events(self, head: Mapping[str, Any], asked: Asked, outputs: Sequence[Output]) -> Iterator[Event]:
        """Choices share chunks for as long as none is over."""
        waiting: list[Event] = []
        for chunk in super().chat_events(head, asked, outputs):
            indexes = [choice["index"] for each in waiting for choice in each["choices"]]
            if not chunk["choices"] or chunk["choices"][0]["index"] in indexes:
                yield self.joined(waiting)
                waiting = []
            waiting.append(chunk)
        yield self.joined(waiting)

    def joined(self, chunks: list[Event]) -> Event:
        return {**chunks[0], "choices": [choice for chunk in chunks for choice in chunk["choices"]]}

    def chat_chunk(self, head: Mapping[str, Any], asked: Asked, choices: list[dict[str, Any]]) -> Event:
        """Each has a time of its own."""
        chunk = super().chat_chunk(head, asked, choices)
        return {**chunk, "created": self.server.http.now(), "system_fingerprint": "", "usage": None}


class MlcCompletions(TheirCompletions):
    def completion_usage(self, answers: Answers) -> dict[str, Any]:
        return {**super().completion_usage(answers), "extra": None}

    def completion_text(self, asked: Asked, output: Output) -> str:
        return super().completion_text(asked, output) + str(asked.body.get("suffix", ""))

    def completion_choice(self, asked: Asked, output: Output) -> dict[str, Any]:
        """The echo has no probabilities."""
        logprobs = self.completion_logprobs(asked, output.tokens, 0)
        return {**super().completion_choice(asked, output), "logprobs": logprobs}

    def completion_logprobs(self, asked: Asked, tokens: Sequence[Token], offset: int) -> dict[str, Any] | None:
        found = super().completion_logprobs(asked, tokens, offset)
        if not found:
            return None
        top_logprobs = found["top_logprobs"] or [{} for _ in tokens]
        shown = [visible(each) for each in found["tokens"]]
        return {**found, "tokens": shown, "top_logprobs": top_logprobs, "text_offset": None}

    def text_beginning(
        self, head: Mapping[str, Any], asked: Asked, output: Output, offsets: dict[int, int]
    ) -> Iterator[Event]:
        if tokens := self.echoed(asked):
            text = "".join(token.text for token in tokens)
            yield self.completion_chunk(head, asked, [self.text_choice(output, text, None)])

    def after_choice(self, head: Mapping[str, Any], asked: Asked, output: Output) -> Iterator[Event]:
        """The suffix has the reason a second time."""
        if suffix := asked.body.get("suffix"):
            yield self.completion_chunk(head, asked, [self.text_choice(output, suffix, None, output.reason)])

    def completion_chunk(self, head: Mapping[str, Any], asked: Asked, choices: list[dict[str, Any]]) -> Event:
        return {**super().completion_chunk(head, asked, choices), "created": self.server.http.now(), "usage": None}


PARTS = (Steered, MlcRequests, MlcHttp, MlcModels, MlcChat, MlcCompletions)
