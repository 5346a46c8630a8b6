"""The messages between the server, the grammar process and the trial process."""

import msgspec

from specvino.engine.errors import ConstraintError
from specvino.engine.grammar import LoweredConstraint


class StartGrammarProcess(msgspec.Struct, tag=True):
    """Is the first message to the grammar process. A question may take so many seconds of CPU time."""

    most_computing: float


class Lower(msgspec.Struct, tag=True):
    """Asks for the grammar of a JSON Schema's text, or (`structural`) of a structural tag's."""

    id: int
    text: str
    structural: bool
    strict: bool


class Lowered(msgspec.Struct, tag=True):
    """Carries the grammar that a constraint became, and what of its schemas can't be enforced."""

    id: int
    lowered: LoweredConstraint


class LoadDummyPipeline(msgspec.Struct, tag=True):
    """Is the first message to the trial process. A trial may take so many seconds of CPU time."""

    path: str
    most_computing: float


class Trial(msgspec.Struct, tag=True):
    """Asks whether a grammar that only XGrammar can read compiles and is quick enough."""

    id: int
    lowered: LoweredConstraint


class TrialPassed(msgspec.Struct, tag=True):
    """Says that the grammar of a Trial may be used."""

    id: int


class ConstraintRefused(msgspec.Struct, tag=True):
    """Carries the parts of a ConstraintError."""

    id: int
    message: str
    path: tuple[str | int, ...] = ()
    unsupported: bool = False


def constraint_refused(id: int, error: ConstraintError) -> ConstraintRefused:
    return ConstraintRefused(id, str(error), error.path, error.unsupported)
