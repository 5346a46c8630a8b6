"""How a model writes tool calls, as data: what its chat template shows of them, by which they are read and forced.

    section[0] head arguments tail separator head arguments tail … section[1]

All texts are as the template writes them. Where they are read, white space may stand between their words or not.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Protocol

import msgspec

# What stands in the texts of a format for what differs from call to call.
NAME = "\1"
ID = "\2"

CDATA = ("<![CDATA[", "]]>")

_LAST_TAG = re.compile(r"(?<=[>\]])\s*([<\[][^<>\[\]]*)$")


class Tool(Protocol):
    """Is a function. `parameters` is the JSON Schema of its arguments; None takes none."""

    @property
    def name(self) -> str: ...

    @property
    def parameters(self) -> Mapping[str, Any] | None: ...


Tools = Mapping[str, Tool]


class JsonCall(msgspec.Struct, frozen=True, tag=True):
    """The call is one JSON object, `head` and `tail` are what it has before and behind the arguments:
    `{"name": "NAME", "arguments": ` and `, "id": "ID"}`. The name itself may be the key: `{"NAME": `."""

    head: str = f'{{"name": "{NAME}", "arguments": '
    tail: str = "}"

    @property
    def keys(self) -> tuple[str, ...]:
        """Returns the names of its members."""
        return tuple(re.findall(r'"([^"\1]+)":', self.head + self.tail))

    @property
    def roles(self) -> tuple[str, str]:
        """Returns the names of the members that hold the name and the arguments."""
        name, arguments = self._name, self._arguments
        assert name is not None
        assert arguments is not None
        return name[1], arguments[1]

    @property
    def is_readable(self) -> bool:
        """Tells whether it has members with the name and the arguments, or one by name."""
        return self.keyed_by_name or (self._name is not None and self._arguments is not None)

    @property
    def _name(self) -> re.Match[str] | None:
        return re.search(rf'"([^"]+)":\s*"{NAME}"', self.head + self.tail)

    @property
    def _arguments(self) -> re.Match[str] | None:
        return re.search(r'"([^"]+)":\s*$', self.head)

    @property
    def keyed_by_name(self) -> bool:
        """Tells whether the name is the key of the arguments."""
        return f'"{NAME}":' in self.head


class JsonArguments(msgspec.Struct, frozen=True, tag=True):
    """The arguments are a JSON object behind the name: `f[ARGS]{…}`."""


class Elements(msgspec.Struct, frozen=True, tag=True):
    """The arguments are elements, `<parameter=k>v</parameter>`: `key` stands before and behind an argument's name,
    `end` behind its value, where NAME is the argument's name again. Texts stand as they are, everything else as JSON.

    `kinds` has for each JSON type what stands in `key[1]` in the place of ID, as in `" type="ID">`: then that says
    which type a value has, else the tool's schema does. `cdata` says that a value may stand in <![CDATA[…]]>.
    """

    key: tuple[str, str]
    end: str
    kinds: tuple[tuple[str, str], ...] = ()
    cdata: bool = False


class Literals(msgspec.Struct, frozen=True, tag=True):
    """The arguments are literals as in a programming language: `f(k="v", n=42)`, `f{k:<|"|>v<|"|>}`. `quote` begins and
    ends a text; one that no language has knows no escapes."""

    brackets: tuple[str, str] = ("(", ")")
    assign: str = "="
    separator: str = ", "
    quote: str = '"'


class CallFormat(msgspec.Struct, frozen=True):
    """Describes the calls of a model. `section` stands around all calls of a turn, `separator` between two, `head` and
    `tail` around the arguments of each, where NAME is the tool and ID an id, or the call's number if `numbered`.

    `marks` are further texts behind which calls may begin; with `bare` they may also begin an output. `parallel` says
    that a turn may have several.
    """

    arguments: JsonCall | JsonArguments | Elements | Literals
    section: tuple[str, str] = ("", "")
    separator: str = ""
    head: str = ""
    tail: str = ""
    numbered: bool = False
    marks: tuple[str, ...] = ()
    bare: bool = False
    parallel: bool = True

    @property
    def trigger(self) -> str | None:
        """Returns the text with which every call begins and which says nothing else; None where there is none."""
        if self.bare:
            return None
        return self.section[0].strip() or self.start.strip() or None

    @property
    def start(self) -> str:
        """Returns what a call begins with, up to its name or id."""
        return re.split(f"[{NAME}{ID}]", self.head)[0]

    @property
    def last_tag(self) -> str | None:
        """Returns the last tag before the name, where another one stands before it: models forget that."""
        tag = _LAST_TAG.search(self.start)
        return tag[1] if tag else None

    @property
    def one_by_one(self) -> bool:
        """Tells whether the arguments are written one by one, without a JSON object."""
        return isinstance(self.arguments, Elements | Literals)

    @property
    def literals(self) -> Iterator[str]:
        """Yields the texts that the format consists of."""
        yield from (*self.section, self.separator, self.head, self.tail, *self.marks)
        match self.arguments:
            case Elements(key, end):
                yield from (*key, end)
            case Literals(quote=quote):
                yield quote
