"""What the server, the grammars process and the trials process say to each other."""

import msgspec

from specvino.engine.errors import ConstraintError
from specvino.engine.grammar.structured_output import Form


class Begin(msgspec.Struct, tag=True):
    """The first message to the grammars process."""


class Lower(msgspec.Struct, tag=True):
    """A JSON Schema's text, or (`structural`) a structural tag's."""

    id: int
    text: str
    structural: bool
    strict: bool


class Lowered(msgspec.Struct, tag=True):
    id: int
    form: Form


class LoadStub(msgspec.Struct, tag=True):
    """The first message to the trials process."""

    path: str


class Try(msgspec.Struct, tag=True):
    id: int
    form: Form


class Sound(msgspec.Struct, tag=True):
    id: int


class Refused(msgspec.Struct, tag=True):
    """The parts of a ConstraintError."""

    id: int
    message: str
    path: tuple[str | int, ...] = ()
    unsupported: bool = False


def refused(id: int, error: ConstraintError) -> Refused:
    return Refused(id, str(error), error.path, error.unsupported)
