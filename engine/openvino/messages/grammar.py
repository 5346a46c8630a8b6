"""The messages between the server, the grammar process and the trial process."""

import msgspec

from specvino.engine.errors import ConstraintError
from specvino.engine.grammar.structured_output import LoweredConstraint


class StartGrammarProcess(msgspec.Struct, tag=True):
    """Is the first message to the grammar process."""


class Lower(msgspec.Struct, tag=True):
    """Asks for the grammar of a JSON Schema's text, or (`structural`) of a structural tag's."""

    id: int
    text: str
    structural: bool
    strict: bool


class Lowered(msgspec.Struct, tag=True):
    id: int
    structured_output: LoweredConstraint


class LoadDummyPipeline(msgspec.Struct, tag=True):
    """Is the first message to the trial process."""

    path: str


class Trial(msgspec.Struct, tag=True):
    id: int
    structured_output: LoweredConstraint


class TrialPassed(msgspec.Struct, tag=True):
    id: int


class ConstraintRefused(msgspec.Struct, tag=True):
    """Carries the parts of a ConstraintError."""

    id: int
    message: str
    path: tuple[str | int, ...] = ()
    unsupported: bool = False


def constraint_refused(id: int, error: ConstraintError) -> ConstraintRefused:
    return ConstraintRefused(id, str(error), error.path, error.unsupported)
