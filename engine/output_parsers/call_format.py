"""The format of a model's tool calls as data, for parsing and constraining them.

    section[0] head arguments tail separator head arguments tail … section[1]

All texts are as in the chat template. A parser accepts them with or without white space between their words.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Protocol

import msgspec

# Placeholders in the texts of a format for the variable parts of calls.
NAME = "\1"
ID = "\2"

CDATA = ("<![CDATA[", "]]>")

_LAST_TAG = re.compile(r"(?<=[>\]])\s*([<\[][^<>\[\]]*)$")


class Tool(Protocol):
    """A function that a model may call. `parameters` is the JSON Schema of its arguments; None means no arguments."""

    @property
    def name(self) -> str: ...

    @property
    def parameters(self) -> Mapping[str, Any] | None: ...


Tools = Mapping[str, Tool]


class JsonCall(msgspec.Struct, frozen=True, tag=True):
    """A call as one JSON object. `head` and `tail` are the texts before and after the arguments:
    `{"name": "NAME", "arguments": ` and `, "id": "ID"}`. The key may be the name itself: `{"NAME": `."""

    head: str = f'{{"name": "{NAME}", "arguments": '
    tail: str = "}"

    @property
    def keys(self) -> tuple[str, ...]:
        """The names of its members."""
        return tuple(re.findall(r'"([^"\1]+)":', self.head + self.tail))

    @property
    def roles(self) -> tuple[str, str]:
        """The names of the members with the tool's name and with the arguments."""
        name, arguments = self._name, self._arguments
        assert name is not None
        assert arguments is not None
        return name[1], arguments[1]

    @property
    def is_readable(self) -> bool:
        """Whether it has members for the name and the arguments, or one with the name as its key."""
        return self.keyed_by_name or (self._name is not None and self._arguments is not None)

    @property
    def _name(self) -> re.Match[str] | None:
        return re.search(rf'"([^"]+)":\s*"{NAME}"', self.head + self.tail)

    @property
    def _arguments(self) -> re.Match[str] | None:
        return re.search(r'"([^"]+)":\s*$', self.head)

    @property
    def keyed_by_name(self) -> bool:
        """Whether the tool's name is the key of the arguments."""
        return f'"{NAME}":' in self.head


class JsonArguments(msgspec.Struct, frozen=True, tag=True):
    """Arguments that are a JSON object after the name: `f[ARGS]{…}`."""


class Elements(msgspec.Struct, frozen=True, tag=True):
    """Arguments that are elements, `<parameter=k>v</parameter>`. `key` has the texts before and after an argument's
    name, `end` follows its value; NAME in `end` is the argument's name again. Strings are unquoted, other values are
    JSON. If `key[1]` contains ID, as in `" type="ID">`, ID stands for the value's type, and `kinds` has its text for
    each JSON type. Otherwise the tool's schema defines the type. `cdata` means that a value may be in <![CDATA[…]]>.
    """

    key: tuple[str, str]
    end: str
    kinds: tuple[tuple[str, str], ...] = ()
    cdata: bool = False


class Literals(msgspec.Struct, frozen=True, tag=True):
    """Arguments that are literals as in a programming language: `f(k="v", n=42)`, `f{k:<|"|>v<|"|>}`. `quote` delimits
    strings; in quotes other than `"` and `'` there are no escapes.
    """

    brackets: tuple[str, str] = ("(", ")")
    assign: str = "="
    separator: str = ", "
    quote: str = '"'


class CallFormat(msgspec.Struct, frozen=True):
    """The format of a model's calls. `section` encloses all calls of a turn, `separator` is between two of them, `head`
    and `tail` enclose the arguments of each. NAME is the tool's name, ID an id, or the call's number if `numbered`.
    `marks` are other texts after which calls may begin; with `bare`, calls may begin the output without a marker.
    `parallel` means that a turn may have several calls.
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
        """The text that begins every call and doesn't occur otherwise; None if there is none."""
        if self.bare:
            return None
        return self.section[0].strip() or self.start.strip() or None

    @property
    def start(self) -> str:
        """The beginning of a call, up to its name or id."""
        return re.split(f"[{NAME}{ID}]", self.head)[0]

    @property
    def last_tag(self) -> str | None:
        """The last tag before the name, if another one precedes it. Models may omit it."""
        tag = _LAST_TAG.search(self.start)
        return tag[1] if tag else None

    @property
    def one_by_one(self) -> bool:
        """Whether the arguments are written one by one, without a JSON object."""
        return isinstance(self.arguments, Elements | Literals)

    @property
    def literals(self) -> Iterator[str]:
        """The literal texts of the format."""
        yield from (*self.section, self.separator, self.head, self.tail, *self.marks)
        match self.arguments:
            case Elements(key, end):
                yield from (*key, end)
            case Literals(quote=quote):
                yield quote
