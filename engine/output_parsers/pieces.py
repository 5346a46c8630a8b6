"""The pieces of a model's output."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AnswerText:
    """Is the next part of the answer; it is never empty."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningText:
    """Is the next part of the reasoning before an answer; it is never empty."""

    text: str


@dataclass(frozen=True, slots=True)
class CallStart:
    """Begins a call of a known tool. Its `CallArguments` and `CallEnd` follow before any other piece."""

    name: str


@dataclass(frozen=True, slots=True)
class CallArguments:
    """Is the next part of the arguments: JSON text, whatever the model wrote them in; it is never empty.

    The parts of a complete call, joined, parse to an object; those of an incomplete one are its beginning.
    """

    text: str


@dataclass(frozen=True, slots=True)
class CallEnd:
    """Ends a call. `complete` is false if the arguments break off; what didn't become arguments follows as
    `AnswerText`."""

    complete: bool


Piece = AnswerText | ReasoningText | CallStart | CallArguments | CallEnd
