"""The rules and terminals of a Lark grammar, with those that it imports."""

from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from lark import Lark, Token, Tree, UnexpectedInput

from specvino.engine.grammar._automata.expressions import PatternError

# The grammars in the package from which others can import. Relative imports would read files of this machine.
LIBRARIES = ("common", "python", "unicode")

_FOLDER = "grammars"

Expansions = Tree[Any]


class LarkError(ValueError):
    """The text isn't a Lark grammar; `str()` is the reason."""


@dataclass(frozen=True, slots=True)
class Definition:
    """A rule or a terminal: its expansions, and the grammar whose names they use. A template has parameters."""

    name: str
    expansions: Expansions
    scope: "Definitions"
    is_terminal: bool
    is_template: bool = False


@dataclass(slots=True)
class Definitions:
    """The definitions of one grammar by name, its imported names, and what it ignores between terminals."""

    own: dict[str, Definition] = field(default_factory=dict)
    imported: dict[str, tuple[str, str]] = field(default_factory=dict)
    """The library and the name there."""
    declared: set[str] = field(default_factory=set)
    ignored: list[Expansions] = field(default_factory=list)

    def find(self, name: str) -> Definition:
        """Returns a definition. Raises LarkError, and PatternError for one that no grammar has."""
        if name in self.own:
            return self.own[name]
        if name in self.imported:
            library, original = self.imported[name]
            return _library(library).find(original)
        if name in self.declared:
            raise PatternError(f"the terminal {name} is only declared")
        raise LarkError(f"{name} isn't defined")


def read(text: str) -> Definitions:
    """Returns the definitions of a grammar. Raises LarkError, and PatternError for what can't be enforced."""
    try:
        tree = _parser().parse(f"{text}\n")
    except UnexpectedInput as error:
        raise LarkError(f"it isn't a Lark grammar: line {error.line}, column {error.column} isn't expected") from None
    definitions = Definitions()
    for item in tree.children:
        assert isinstance(item, Tree)
        _add(definitions, item)
    return definitions


@cache
def _parser() -> Lark:
    """Returns the parser of Lark's syntax, which is a grammar in the package (lark 1.3.1, grammars/lark.lark)."""
    return Lark(_text("lark"), parser="lalr", maybe_placeholders=False)


# The same texts as in Lark's `common`, but for an unescaped quote in the middle, without a lookbehind.
_REWRITTEN = r'ESCAPED_STRING: "\"" /([^"\\\n]|\\[^\n])*/ "\""'


@cache
def _library(name: str) -> Definitions:
    library = read(_text(name))
    if name == "common":
        library.own |= read(_REWRITTEN).own
    return library


def _text(name: str) -> str:
    return files("lark").joinpath(_FOLDER, f"{name}.lark").read_text("utf-8")


def _add(definitions: Definitions, item: Tree[Any]) -> None:
    children = item.children
    match item.data:
        case "rule" | "token":
            name = str(children[0]).lstrip("!?")  # how the rule's tree is built doesn't matter here
            if name in definitions.own:
                raise LarkError(f"{name} is defined twice")
            is_template = bool(children[1].children)
            definitions.own[name] = Definition(name, children[-1], definitions, item.data == "token", is_template)
        case "ignore":
            definitions.ignored.append(children[0])
        case "import":
            path = _path(children[0])
            _import(definitions, path[:-1], path[-1], _name(children[1]) if len(children) > 1 else path[-1])
        case "multi_import":
            for child in children[1].children:
                _import(definitions, _path(children[0]), _name(child), _name(child))
        case "declare":
            definitions.declared.update(map(_name, children))
        case other:
            raise PatternError(f"%{str(other).partition('_')[0]} can't be enforced")


def _import(definitions: Definitions, path: list[str], name: str, alias: str) -> None:
    if len(path) != 1 or path[0] not in LIBRARIES:
        known = ", ".join(LIBRARIES)
        raise PatternError(f"{'.'.join(path)} can't be imported; Lark's own grammars can: {known}")
    definitions.imported[alias] = (path[0], name)


def _path(tree: Tree[Any]) -> list[str]:
    """Returns the parts of an import's path; a relative one begins with an empty part."""
    return "".join(str(part) if isinstance(part, Token) else _name(part) for part in tree.children).split(".")


def _name(tree: Tree[Any]) -> str:
    return str(tree.children[0])
