"""What the server and the grammars process say to each other."""

import msgspec

from specvino.engine.grammar.forms import Form


class LoadStub(msgspec.Struct, tag=True):
    """The first message to the process."""

    path: str


class Check(msgspec.Struct, tag=True):
    """A JSON Schema's text, or (`structural`) a structural tag's."""

    id: int
    text: str
    structural: bool
    strict: bool


class Loaded(msgspec.Struct, tag=True):
    """Sent before Ready."""


class Checked(msgspec.Struct, tag=True):
    id: int
    form: Form


class Refused(msgspec.Struct, tag=True):
    """The parts of a ConstraintError."""

    id: int
    message: str
    path: tuple[str | int, ...] = ()
    unsupported: bool = False


FromGrammars = Loaded | Checked | Refused
