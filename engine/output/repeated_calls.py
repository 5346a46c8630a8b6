"""An answer that must call doesn't make the very call that it has made.

A model that was taught no calls, constrained by a grammar that lets another call follow each, repeats itself until its
tokens are used up. So such an answer ends with the first call that is equal to an earlier one: the same function with
the same arguments. They are compared as they are shown, since the grammar fixes white space and the order of members.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from specvino.engine.segments import Segment, TokenLogprob, ToolCallArguments, ToolCallEnd, ToolCallStart


class RepeatedCalls:
    """Passes one choice's segments on, but holds back a call as long as it may become an earlier one again.

    `found` says that it has become one, and nothing more is passed on.
    """

    def __init__(self) -> None:
        self.found = False
        self._made: set[tuple[str, str]] = set()  # names with the arguments' texts
        self._name = self._arguments = ""  # of the call that is under way
        self._held: list[Segment] = []

    def push(self, segments: Iterator[Segment]) -> Iterator[Segment]:
        """Yields what of the segments is free to go, with what was held back before it."""
        for segment in segments:
            self._held.append(segment)
            self._follow(segment)
            if self.found:
                return
            if not self._may_repeat(segment):
                yield from self._released()

    def rest(self) -> Sequence[TokenLogprob]:
        """Returns the tokens of what is still held back at the end and so is never shown: they gave no text."""
        return [replace(token, text="") for segment in self._released() for token in getattr(segment, "logprobs", ())]

    def _follow(self, segment: Segment) -> None:
        match segment:
            case ToolCallStart(name=name):
                self._name, self._arguments = name, ""
            case ToolCallArguments(text=text):
                self._arguments += text
            case ToolCallEnd(complete=True):
                call = (self._name, self._arguments)
                self.found = call in self._made
                self._made.add(call)

    def _may_repeat(self, segment: Segment) -> bool:
        """Tells whether the call of this segment is so far the beginning of an earlier one, also if it breaks off."""
        match segment:
            case ToolCallStart() | ToolCallArguments() | ToolCallEnd(complete=False):
                return any(name == self._name and made.startswith(self._arguments) for name, made in self._made)
        return False

    def _released(self) -> list[Segment]:
        held, self._held = self._held, []
        return held
