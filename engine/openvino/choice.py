"""One sequence on the server's side: its outputs become text, up to a stop string."""

from collections.abc import Sequence

from specvino.engine.openvino.messages import Output
from specvino.engine.segments import FinishReason
from specvino.engine.text.detokenizer import Detokenizer
from specvino.engine.text.stop import StopMatcher


class Choice:
    """`tokens` counts the generated ids up to and including the one that ended the choice."""

    def __init__(self, index: int, detokenizer: Detokenizer, stops: Sequence[str]) -> None:
        self.index = index
        self.tokens = 0
        self._detokenizer = detokenizer
        self._stops = StopMatcher(stops) if stops else None

    def push(self, output: Output) -> tuple[str, FinishReason | None]:
        """Returns the text that this output frees, and the reason if the choice ends with it."""
        text, stopped = self._push(output.token_ids)
        if stopped:
            return text, "stop"
        if output.finish is not None:
            rest, stopped = self._finish()
            return text + rest, "stop" if stopped else output.finish
        return text, None

    def _push(self, token_ids: Sequence[int]) -> tuple[str, bool]:
        if self._stops is None:
            self.tokens += len(token_ids)
            return self._detokenizer.push(token_ids), False
        text = ""
        for token_id in token_ids:
            self.tokens += 1
            free, stopped = self._stops.push(self._detokenizer.push([token_id]))
            text += free
            if stopped:
                return text, True
        return text, False

    def _finish(self) -> tuple[str, bool]:
        rest = self._detokenizer.finish()
        if self._stops is None:
            return rest, False
        text, stopped = self._stops.push(rest)
        return text if stopped else text + self._stops.finish(), stopped
