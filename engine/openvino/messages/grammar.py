"""The messages between the server, the grammar process and the trial process."""

import msgspec

from specvino.engine.errors import ConstraintError
from specvino.engine.grammar import LoweredConstraint


class StartGrammarProcess(msgspec.Struct, tag=True):
    """The first message to the grammar process. `most_computing` is the limit per question, in seconds of CPU time."""

    most_computing: float


class Lower(msgspec.Struct, tag=True):
    """A request for the grammar of a JSON Schema, or (`structural`) of a structural tag, given as JSON text."""

    id: int
    text: str
    structural: bool
    strict: bool


class Lowered(msgspec.Struct, tag=True):
    """The grammar of a constraint, with the paths in its schemas that can't be enforced."""

    id: int
    lowered: LoweredConstraint


class LoadDummyPipeline(msgspec.Struct, tag=True):
    """The first message to the trial process. `most_computing` is the limit per trial, in seconds of CPU time."""

    path: str
    most_computing: float


class Trial(msgspec.Struct, tag=True):
    """A request to test whether a grammar that only XGrammar can parse compiles and is fast enough."""

    id: int
    lowered: LoweredConstraint


class TrialPassed(msgspec.Struct, tag=True):
    """The grammar of a Trial may be used."""

    id: int


class ConstraintRefused(msgspec.Struct, tag=True):
    """The attributes of a ConstraintError."""

    id: int
    message: str
    path: tuple[str | int, ...] = ()
    unsupported: bool = False


def constraint_refused(id: int, error: ConstraintError) -> ConstraintRefused:
    return ConstraintRefused(id, str(error), error.path, error.unsupported)
