"""What a model's output consists of."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AnswerText:
    """The next part of the answer; never empty."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningText:
    """The next part of what the model thinks before it answers; never empty."""

    text: str


@dataclass(frozen=True, slots=True)
class CallStart:
    """A call of a known tool begins. Its `CallArguments` and `CallEnd` follow before any other piece."""

    name: str


@dataclass(frozen=True, slots=True)
class CallArguments:
    """The next part of the arguments: JSON text, whatever the model wrote them in; never empty.

    The parts of a complete call, joined, parse to an object; those of an incomplete one are its beginning.
    """

    text: str


@dataclass(frozen=True, slots=True)
class CallEnd:
    """`complete` is false if the arguments break off; what didn't become arguments follows as `AnswerText`."""

    complete: bool


Piece = AnswerText | ReasoningText | CallStart | CallArguments | CallEnd
