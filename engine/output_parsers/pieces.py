"""The pieces of a parsed output."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AnswerText:
    """The next part of the answer. It is never empty."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningText:
    """The next part of the reasoning. It is never empty."""

    text: str


@dataclass(frozen=True, slots=True)
class CallStart:
    """The beginning of a call of a known tool. Its `CallArguments` and `CallEnd` follow before any other piece."""

    name: str


@dataclass(frozen=True, slots=True)
class CallArguments:
    """The next part of the arguments as JSON text, regardless of the model's notation. It is never empty.

    The joined parts of a complete call are a JSON object; those of an incomplete call are the beginning of one.
    """

    text: str


@dataclass(frozen=True, slots=True)
class CallEnd:
    """The end of a call. `complete` is false if the arguments are incomplete; the rest of the text follows as
    `AnswerText`.
    """

    complete: bool


Piece = AnswerText | ReasoningText | CallStart | CallArguments | CallEnd
