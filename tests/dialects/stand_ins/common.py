"""What stand-ins have in common: they judge by another document, and have errors and chunks of their own."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, ClassVar
from zlib import crc32

import jsonschema_rs
from reference_server.chat import Chat
from reference_server.completions import Answers, Completions
from reference_server.generation import Asked, Generation, Output, Piece
from reference_server.http import Call, Event, Headers, Http
from reference_server.models import SINCE
from reference_server.refusal import Refusal
from reference_server.requests import Requests, code_of, nearest
from reference_server.words import BEGIN, Token

from specvino.document.loading import dialect_file, load
from specvino.document.pointers import schema_reference
from specvino.document.validator import Validators
from specvino.generated.errors import ErrorCode


@cache
def validators(system: str) -> Validators:
    return Validators(load(dialect_file(system)))


class TheirRequests(Requests):
    """Takes what the document of `system` takes, and names no field that has no effect."""

    system: ClassVar[str]

    def accepted(self, call: Call, component: str) -> dict[str, Any]:
        for error in self.violations(component, call.body):
            raise self.refusal(component, error)
        if call.body.get("model") is not None:
            self.server.models.require_model(call.body["model"])
        return {"model": self.server.model, **self.given(call.body)}

    def violations(self, component: str, body: Any) -> Iterator[jsonschema_rs.ValidationError]:
        pointer = schema_reference(component).removeprefix("#")
        try:
            yield from validators(self.system).at(pointer).errors(body)
        except ValueError:  # nested too deeply
            raise Refusal(ErrorCode.INVALID_JSON, "The request body is nested too deeply.") from None

    def refusal(self, component: str, error: jsonschema_rs.ValidationError) -> Refusal:
        error = nearest(error)
        return Refusal(code_of(error), self.message(error), self.param(error))

    def unsupported_headers(self, call: Call) -> Headers:
        return []


class TheirHttp(Http):
    """`statuses` are those with which the system refuses what is no mistake in a field, for which it has `mistake`."""

    statuses: ClassVar[Mapping[ErrorCode, int]]
    mistake: ClassVar[int] = 400

    def status(self, refusal: Refusal) -> int:
        return self.statuses.get(refusal.code, self.mistake)

    async def answer(self, call: Call, answer: Any) -> None:
        """None is no body."""
        if answer is None:
            await self.respond(call, 200, b"", [])
        else:
            await super().answer(call, answer)

    def common_headers(self, call: Call) -> Headers:
        return []

    def refusal_headers(self, refusal: Refusal) -> Headers:
        return []


NO_ROUTE = {ErrorCode.NOT_FOUND: 404, ErrorCode.METHOD_NOT_ALLOWED: 405}
"""As Starlette has it, on which most are built."""

PHRASES = {404: "Not Found", 405: "Method Not Allowed"}


def permission() -> dict[str, Any]:
    """What a model's card has had for long."""
    return {
        "id": "modelperm-0f1e2d3c",
        "object": "model_permission",
        "created": SINCE,
        **dict.fromkeys(("allow_create_engine", "allow_search_indices", "allow_fine_tuning", "is_blocking"), False),
        **dict.fromkeys(("allow_sampling", "allow_logprobs", "allow_view"), True),
        "organization": "*",
        "group": None,
    }


class Steered(Generation):
    """A logit_bias makes it say something else."""

    def seed(self, body: Mapping[str, Any], choice: int) -> int | None:
        bias = body.get("logit_bias")
        return crc32(repr(bias).encode()) if bias else super().seed(body, choice)


class CountsEnds(Steered):
    """The token that ends a turn is one of the answer's, though nothing is shown of it."""

    end = Token(BEGIN, "<|im_end|>", -0.5)

    def output(self, asked: Asked, choice: int) -> Output:
        output = super().output(asked, choice)
        if output.reason == "length" or output.rest or output.made >= self.budget(asked):
            return output
        return replace(output, rest=(self.end,), made=output.made + 1)


class TheirChat(Chat):
    """Chunks of which the last one of a choice has its last text, where `ends_with_text` says so."""

    def ends_with_text(self, output: Output) -> bool:
        return output.reason == "length" and not output.rest

    def chat_events(self, head: Mapping[str, Any], asked: Asked, outputs: Sequence[Output]) -> Iterator[Event]:
        for output in outputs:
            yield from self.beginning(head, asked, output)
        ended = set()
        for output, piece in self.steps(outputs):
            *before, last = self.deltas(asked, piece) or [{}]
            for delta in before:
                yield self.piece_chunk(head, asked, output, piece, delta)
            if piece is output.pieces[-1] and self.ends_with_text(output):
                ended.add(output.index)
                yield self.piece_chunk(head, asked, output, piece, last, self.chat_reason(asked, output))
            else:
                yield self.piece_chunk(head, asked, output, piece, last)
        for output in outputs:
            if output.index not in ended:
                yield from self.finishes(head, asked, output)
        yield from self.usage_events(head, asked, outputs)

    def beginning(self, head: Mapping[str, Any], asked: Asked, output: Output) -> Iterator[Event]:
        """What comes before the first text."""
        yield self.chat_chunk(head, asked, [self.chunk_choice(output, self.role_delta())])

    def piece_chunk(
        self,
        head: Mapping[str, Any],
        asked: Asked,
        output: Output,
        piece: Piece,
        delta: Mapping[str, Any],
        reason: str | None = None,
    ) -> Event:
        logprobs = self.chat_logprobs(asked, piece.tokens)
        return self.chat_chunk(head, asked, [self.chunk_choice(output, delta, reason, logprobs)])

    def usage_so_far(self, asked: Asked) -> dict[str, Any]:
        """Nothing before the end."""
        return {}


class TheirCompletions(Completions):
    """The same for texts. The echo may come with the first one."""

    echoes_with_text: ClassVar[bool] = False

    def ends_with_text(self, output: Output) -> bool:
        return output.reason == "length" and not output.rest

    def completion_events(self, head: Mapping[str, Any], answers: Answers) -> Iterator[Event]:
        asked_of = {output.index: asked for asked, outputs in answers for output in outputs}
        every = [output for _, outputs in answers for output in outputs]
        offsets = dict.fromkeys(asked_of, 0)
        ended = set()
        for output in every:
            yield from self.text_beginning(head, asked_of[output.index], output, offsets)
        for output, piece in self.server.chat.steps(every):
            asked, ends = asked_of[output.index], piece is output.pieces[-1] and self.ends_with_text(output)
            if ends:
                ended.add(output.index)
            before = self.echoed(asked) if self.echoes_with_text and piece is output.pieces[0] else []
            tokens = [*before, *piece.tokens]
            text = "".join(token.text for token in tokens)
            logprobs = self.completion_logprobs(asked, tokens, offsets[output.index])
            offsets[output.index] += len(text)
            choice = self.text_choice(output, text, logprobs, output.reason if ends else None)
            yield self.completion_chunk(head, asked, [choice])
            yield from self.after_choice(head, asked, output) if ends else ()
        for output in every:
            if output.index not in ended:
                yield from self.completion_finishes(head, asked_of[output.index], output, offsets)
                yield from self.after_choice(head, asked_of[output.index], output)
        yield from self.completion_usage_events(head, answers)

    def text_beginning(
        self, head: Mapping[str, Any], asked: Asked, output: Output, offsets: dict[int, int]
    ) -> Iterator[Event]:
        """What comes before the first text."""
        if (tokens := self.echoed(asked)) and not self.echoes_with_text:
            yield self.text_chunk(head, asked, output, tokens, offsets)

    def after_choice(self, head: Mapping[str, Any], asked: Asked, output: Output) -> Iterator[Event]:
        """What comes when a choice is over."""
        return iter(())

    def completion_usage_events(self, head: Mapping[str, Any], answers: Answers) -> Iterator[Event]:
        if self.server.chat.wants_usage(answers[0][0]):
            yield {**self.completion_chunk(head, answers[0][0], []), "usage": self.completion_usage(answers)}
