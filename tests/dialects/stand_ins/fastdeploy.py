"""FastDeploy, at the commits that `answers/fastdeploy` names."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from dialects.stand_ins.common import (
    NO_ROUTE,
    PHRASES,
    TheirChat,
    TheirCompletions,
    TheirHttp,
    TheirRequests,
    permission,
)
from reference_server.completions import Answers
from reference_server.generation import Asked, Output, Piece
from reference_server.http import Call, Event, Stream
from reference_server.models import Models
from reference_server.refusal import Refusal
from reference_server.tools import Tools
from reference_server.words import Token

from specvino.generated.errors import ErrorCode

SINCE = 0.03125
"""Seconds from one chunk to the next."""


class FastDeployRequests(TheirRequests):
    system = "fastdeploy"


class FastDeployHttp(TheirHttp):
    """What is no object breaks it."""

    statuses: ClassVar = {
        **NO_ROUTE,
        ErrorCode.INVALID_API_KEY: 401,
        ErrorCode.INVALID_JSON: 500,
        ErrorCode.UNSUPPORTED_MEDIA_TYPE: 500,
        ErrorCode.MODEL_NOT_FOUND: 500,
    }

    def envelope(self, refusal: Refusal) -> Any:
        status = self.status(refusal)
        if status == 401:
            return {"error": "Unauthorized"}
        if status in PHRASES:
            return {"detail": PHRASES[status]}
        kind, param = "invalid_request_error", refusal.param
        code: str | None = "invalid_value"
        if refusal.code is ErrorCode.MISSING_REQUIRED_PARAMETER and refusal.param == "messages":
            code = "missing_required_parameter"
        if status == 500:
            unknown = refusal.code is ErrorCode.MODEL_NOT_FOUND
            kind, param, code = "internal_error", None, "model_not_support" if unknown else None
        return {"error": {"message": refusal.message, "type": kind, "param": param, "code": code}}

    def frame(self, stream: Stream, event: Event) -> bytes:
        """A role ends in a blank."""
        whole = super().frame(stream, event)
        shows_role = any("role" in choice.get("delta", ()) for choice in event["choices"])
        return whole.replace(b"\n\n", b" \n\n") if shows_role else whole


class FastDeployModels(Models):
    def described(self, model: str) -> dict[str, Any]:
        more = {"root": model, "parent": None, "max_model_len": 8192, "permission": [permission()]}
        return {**super().described(model), "owned_by": "FastDeploy", **more}

    def health(self, call: Call) -> Any:
        return None


class FastDeployTools(Tools):
    def choice(self, choice: Any) -> tuple[str, list[str] | None, str]:
        """Nobody reads it."""
        return "auto", None, "tool_choice"

    def several(self, body: Mapping[str, Any]) -> bool:
        return True


class FastDeployChat(TheirChat):
    def chat_choice(self, asked: Asked, output: Output) -> dict[str, Any]:
        nulls = dict.fromkeys(("draft_logprobs", "prompt_logprobs", "speculate_metrics"))
        choice = super().chat_choice(asked, output)
        for entry in (choice["logprobs"] or {}).get("content", ()):
            entry["top_logprobs"] = [{**each, "top_logprobs": None} for each in entry["top_logprobs"]]
        if choice["logprobs"]:
            choice["logprobs"]["refusal"] = None
        return {**choice, **nulls}

    def chat_message(self, asked: Asked, output: Output) -> dict[str, Any]:
        nulls = ("multimodal_content", "audio_content", "prompt_token_ids", "completion_token_ids", "prompt_tokens")
        return {
            **dict.fromkeys((*nulls, "completion_tokens")),
            "role": "assistant",
            "content": output.joined("text"),
            "reasoning_content": output.joined("thoughts") or None,
            "tool_calls": [self.tool_call(each) for each in output.calls] or None,
        }

    def chat_usage(self, asked: Asked, outputs: Sequence[Output]) -> dict[str, Any]:
        usage = super().chat_usage(asked, outputs)
        usage["completion_tokens_details"]["image_tokens"] = 0
        return {**usage, "prompt_tokens_details": {"cached_tokens": 0, "image_tokens": 0, "video_tokens": 0}}

    def chat_logprobs(self, asked: Asked, tokens: Sequence[Token]) -> dict[str, Any] | None:
        """The chosen token isn't among the others."""
        more = {**asked.body, "top_logprobs": asked.body.get("top_logprobs", 0) + 1}
        found = super().chat_logprobs(replace(asked, body=more) if asked.body.get("logprobs") else asked, tokens)
        for entry in (found or {}).get("content", ()):
            del entry["top_logprobs"][0]
        return found and {"content": found["content"]}

    # The stream

    def role_delta(self) -> dict[str, Any]:
        return {"role": "assistant", **self.delta({})}

    def delta(self, said: Mapping[str, Any]) -> dict[str, Any]:
        """All that is set in each chunk."""
        return {
            "content": said.get("content", ""),
            "prompt_token_ids": None,
            "completion_token_ids": None,
            "reasoning_content": said.get("reasoning_content", ""),
            "tool_calls": said.get("tool_calls"),
        }

    def deltas(self, asked: Asked, piece: Piece) -> Iterator[dict[str, Any]]:
        for said in super().deltas(asked, piece):
            if piece.id:
                del said["tool_calls"][0]["function"]["arguments"]
            yield self.delta(said)

    def beginning(self, head: Mapping[str, Any], asked: Asked, output: Output) -> Iterator[Event]:
        yield self.chat_chunk(head, asked, [{"index": output.index, "delta": self.role_delta()}])

    def chunk_choice(
        self, output: Output, delta: Mapping[str, Any], reason: str | None = None, logprobs: Any = None
    ) -> dict[str, Any]:
        """Without a reason before the end."""
        choice = super().chunk_choice(output, delta or self.delta({}), reason, logprobs)
        if reason is None:
            del choice["finish_reason"]
        return {**choice, "draft_logprobs": None, "arrival_time": SINCE}

    def wants_usage(self, asked: Asked) -> bool:
        options = asked.body.get("stream_options")
        return options is not None and options.get("include_usage", True)

    def usage_events(self, head: Mapping[str, Any], asked: Asked, outputs: Sequence[Output]) -> Iterator[Event]:
        for chunk in super().usage_events(head, asked, outputs):
            yield {**chunk, "usage": {**chunk["usage"], "prompt_tokens_details": {"cached_tokens": 0}}}


class FastDeployCompletions(TheirCompletions):
    echoes_with_text = True

    def completion_choice(self, asked: Asked, output: Output) -> dict[str, Any]:
        nulls = ("prompt_token_ids", "completion_token_ids", "prompt_tokens", "completion_tokens", "arrival_time")
        more = ("draft_logprobs", "prompt_logprobs", "reasoning_content", "tool_calls", "speculate_metrics")
        logprobs = self.completion_logprobs(asked, output.tokens, 0)
        if logprobs:
            logprobs["text_offset"] = None
        return {**super().completion_choice(asked, output), "logprobs": logprobs, **dict.fromkeys((*nulls, *more))}

    def completion_usage(self, answers: Answers) -> dict[str, Any]:
        return {
            **super().completion_usage(answers),
            "prompt_tokens_details": {"cached_tokens": 0, "image_tokens": None, "video_tokens": None},
            "completion_tokens_details": {"reasoning_tokens": 0, "image_tokens": 0},
        }

    def completion_logprobs(self, asked: Asked, tokens: Sequence[Token], offset: int) -> dict[str, Any] | None:
        """The chosen token isn't among the others, and none has a place."""
        found = super().completion_logprobs(asked, tokens, offset)
        if not found:
            return None
        del found["text_offset"]
        others = [self.server.chat.top_logprobs(token, asked.body["logprobs"] + 1)[1:] for token in tokens]
        return {**found, "top_logprobs": [{each["token"]: each["logprob"] for each in some} for some in others]}

    def text_choice(self, output: Output, text: str, logprobs: Any, reason: str | None = None) -> dict[str, Any]:
        nulls = ("draft_logprobs", "prompt_token_ids", "completion_token_ids", "completion_tokens", "tool_calls")
        choice = super().text_choice(output, text, logprobs, reason)
        if reason is None:
            del choice["finish_reason"]
        return {**choice, **dict.fromkeys(nulls), "reasoning_content": "", "arrival_time": SINCE}

    def completion_chunk(self, head: Mapping[str, Any], asked: Asked, choices: list[dict[str, Any]]) -> Event:
        chunk = super().completion_chunk(head, asked, choices)
        del chunk["object"]
        return chunk

    def after_choice(self, head: Mapping[str, Any], asked: Asked, output: Output) -> Iterator[Event]:
        """Usage of its own."""
        if self.server.chat.wants_usage(asked):
            usage = {**self.completion_usage([(asked, [output])]), "prompt_tokens_details": {"cached_tokens": 0}}
            yield {**self.completion_chunk(head, asked, []), "usage": usage}

    def completion_usage_events(self, head: Mapping[str, Any], answers: Answers) -> Iterator[Event]:
        return iter(())


PARTS = (FastDeployRequests, FastDeployHttp, FastDeployModels, FastDeployTools, FastDeployChat, FastDeployCompletions)
