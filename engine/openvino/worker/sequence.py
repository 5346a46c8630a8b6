"""A sequence in the pipeline, or a beam search, and its outputs."""

import time
from typing import TYPE_CHECKING

from openvino_genai import GenerationFinishReason

from specvino.engine.openvino.messages.token_ids import TOKEN_ID_BYTES
from specvino.engine.openvino.messages.worker import Generate, Output
from specvino.engine.openvino.worker import vision
from specvino.engine.segments import FinishReason

if TYPE_CHECKING:
    from openvino_genai.py_openvino_genai import GenerationHandle, GenerationOutput

_FINISH: dict[GenerationFinishReason, FinishReason] = {
    GenerationFinishReason.STOP: "stop",
    GenerationFinishReason.LENGTH: "length",
}

# Smaller than any real logprob. Replaces GenAI 2026.4.1's minus infinity, which JSON doesn't support.
_LEAST = -9999.0


class Sequence:
    """A sequence in the pipeline. `handle` must be kept: without it GenAI 2026.4.1 drops the request (decision 032)."""

    def __init__(self, request: Generate, handle: "GenerationHandle", begun: float | None = None) -> None:
        self.handle = handle
        self.request = request
        self._prompt = len(request.token_ids) // TOKEN_ID_BYTES if request.echo else 0
        self._unread: list[GenerationOutput] = []
        self._begun = time.monotonic() if begun is None else begun
        self._begun_sent = False

    @property
    def with_images(self) -> bool:
        return self.request.vision_prompt is not None and self.request.vision_prompt.key is not None

    def prompt_tokens(self) -> int:
        """Returns the number of prompt tokens, including images, after the sequence has ended."""
        return vision.prompt_tokens(self.handle)

    def read(self) -> list[Output]:
        """Returns new outputs: none, one of a sequence, or all of a beam search at its end."""
        parts, self._unread = self._unread, []
        while self.handle.can_read():  # GenAI 2026.4.1: otherwise the read blocks forever (decision 031)
            parts += self.handle.read().values()
        if not parts:
            return []
        if not self.request.max_new_tokens and parts[-1].finish_reason not in _FINISH:
            self._unread = parts  # a prompt without an answer is returned in pieces
            return []
        if self.request.beams > 1:
            best = sorted(parts, key=_score, reverse=True)[: self.request.n]
            outputs = [self._output(self.request.id + rank, [part]) for rank, part in enumerate(best)]
        else:
            outputs = [self._output(self.request.id, parts)]
        self._prompt = 0
        if not self._begun_sent:
            outputs[0].begun, self._begun_sent = self._begun, True
        return outputs

    def _output(self, id: int, parts: "list[GenerationOutput]") -> Output:
        token_ids = [token for part in parts for token in part.generated_ids]
        output = Output(id, token_ids[self._prompt :], _FINISH.get(parts[-1].finish_reason))
        if self.request.logprobs:
            logprobs = [_bounded(logprob) for part in parts for logprob in part.generated_log_probs]
            output.logprobs = logprobs[self._prompt :]
        return output


def _score(part: "GenerationOutput") -> tuple[float, float]:
    """Returns the sort key of a beam search's texts. With a strong length penalty all scores are infinite; then the
    logprobs decide.
    """
    return part.score, sum(part.generated_log_probs)


def _bounded(logprob: float) -> float:
    return min(0.0, max(_LEAST, logprob))
