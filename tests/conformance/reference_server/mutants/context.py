"""Prompts that don't fit."""

from reference_server.generation import CONTEXT, Asked, Generation
from reference_server.refusal import Refusal
from specvino.generated.errors import ErrorCode


class CutsPrompts(Generation):
    """A prompt that is longer than the context is taken."""

    breaks = {"chat/limits/prompt-beyond-context", "chat/limits/streamed-prompt-beyond-context"}

    def require_context(self, asked: Asked, param: str, limit: str) -> None:
        if len(asked.prompt) < CONTEXT:
            super().require_context(asked, param, limit)


class StreamsBeforeItReads(Generation):
    """Where a stream is asked for, nobody looks whether the prompt fits."""

    breaks = {"chat/limits/streamed-prompt-beyond-context"}

    def require_context(self, asked: Asked, param: str, limit: str) -> None:
        if not asked.body.get("stream"):
            super().require_context(asked, param, limit)


class RefusesWithoutReason(Generation):
    """A prompt that is longer than the context is refused, and nobody knows why."""

    breaks = {"chat/limits/prompt-beyond-context", "chat/limits/streamed-prompt-beyond-context"}

    def require_context(self, asked: Asked, param: str, limit: str) -> None:
        if len(asked.prompt) >= CONTEXT:
            raise Refusal(ErrorCode.INVALID_VALUE, "It did not work.", "n")
        super().require_context(asked, param, limit)
