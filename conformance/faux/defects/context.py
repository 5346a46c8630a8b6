"""Prompts that don't fit."""

from specvino.conformance.faux.generation import CONTEXT, Asked
from specvino.conformance.faux.refusal import Refusal
from specvino.conformance.faux.server import Faux
from specvino.generated.errors import ErrorCode


class CutsPrompts(Faux):
    """A prompt that is longer than the context is taken."""

    breaks = {"chat/limits/prompt-beyond-context", "chat/limits/streamed-prompt-beyond-context"}
    also = {"*/rules/*"}

    def require_context(self, asked: Asked, param: str, limit: str) -> None:
        if len(asked.prompt) < CONTEXT:
            super().require_context(asked, param, limit)


class StreamsBeforeItReads(Faux):
    """Where a stream is asked for, nobody looks whether the prompt fits."""

    breaks = {"chat/limits/streamed-prompt-beyond-context"}
    also = {"*/rules/*"}

    def require_context(self, asked: Asked, param: str, limit: str) -> None:
        if not asked.body.get("stream"):
            super().require_context(asked, param, limit)


class RefusesWithoutReason(Faux):
    """A prompt that is longer than the context is refused, and nobody knows why."""

    breaks = {"chat/limits/prompt-beyond-context", "chat/limits/streamed-prompt-beyond-context"}

    def require_context(self, asked: Asked, param: str, limit: str) -> None:
        if len(asked.prompt) >= CONTEXT:
            raise Refusal(ErrorCode.INVALID_VALUE, "It did not work.", "n")
        super().require_context(asked, param, limit)
