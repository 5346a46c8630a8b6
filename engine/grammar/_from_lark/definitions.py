"""The rules and terminals of a Lark grammar, with those that it imports."""

from dataclasses import dataclass, field, replace
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
    seen_by_rules: dict[str, Definition] = field(default_factory=dict)
    """Terminals that a grammar which imports this one overrides. As in Lark, terminals of this one use the old ones."""
    libraries: dict[str, "Definitions"] = field(default_factory=dict)
    """The imported grammars by name: copies, as definitions here may replace definitions there."""
    imported: dict[str, tuple["Definitions", str]] = field(default_factory=dict)
    """The library and the name there."""
    declared: set[str] = field(default_factory=set)
    ignored: list[Expansions] = field(default_factory=list)

    def find(self, name: str, *, by_terminal: bool) -> Definition:
        """Returns the definition that a rule or a terminal of this grammar uses.

        Raises LarkError, and PatternError for one that no grammar has.
        """
        if not by_terminal and name in self.seen_by_rules:
            return self.seen_by_rules[name]
        if name in self.own:
            return self.own[name]
        if name in self.imported:
            library, original = self.imported[name]
            return library.find(original, by_terminal=by_terminal)
        if name in self.declared:
            raise PatternError(f"the terminal {name} is only declared")
        raise LarkError(f"{name} isn't defined")

    def define(self, definition: Definition) -> None:
        """Adds a definition. Raises LarkError if its name is defined, imported or declared."""
        name = definition.name
        if name in self.own or name in self.imported or name in self.declared:
            raise LarkError(f"{name} is defined twice")
        self.own[name] = definition

    def override(self, definition: Definition) -> None:
        """Replaces a definition, for the rules of the grammar from which it was imported as well. Raises LarkError."""
        name = definition.name
        if name not in self.own and name not in self.imported and name not in self.declared:
            raise LarkError(f"{name} can't be overridden: it isn't defined before")
        self.own[name] = definition
        if name in self.imported:
            library, original = self.imported[name]
            library.seen_by_rules[original] = definition

    def extend(self, definition: Definition) -> None:
        """Adds alternatives to a definition, for whatever uses it. Raises LarkError, and PatternError."""
        name = definition.name
        if name not in self.own and name not in self.imported:
            raise LarkError(f"{name} can't be extended: it isn't defined before")
        old = self.find(name, by_terminal=definition.is_terminal)
        if old.is_template or definition.is_template:
            raise PatternError(f"the template {name} can't be extended")
        # The names in the old alternatives are those of its own grammar, so it stays a definition; no name has a space.
        hidden = f"{name} {len(self.own)}"
        self.own[hidden] = old
        alternatives = [definition.expansions, Tree("name", [hidden])]
        extended = replace(definition, expansions=Tree("expansions", alternatives))
        self.own[name] = extended
        if name in self.imported:
            library, original = self.imported[name]
            overridden = library.find(original, by_terminal=True) is not old
            (library.seen_by_rules if overridden else library.own)[original] = extended

    def library(self, name: str) -> "Definitions":
        """Returns this grammar's copy of one of Lark's grammars."""
        if name not in self.libraries:
            original = _library(name)
            copy = self.libraries[name] = replace(original, own={}, seen_by_rules={}, libraries={})
            copy.own |= {name: replace(definition, scope=copy) for name, definition in original.own.items()}
        return self.libraries[name]


def read(text: str) -> Definitions:
    """Returns the definitions of a grammar. Raises LarkError, and PatternError for what can't be enforced."""
    try:
        tree = _parser().parse(f"{text}\n")
    except UnexpectedInput as error:
        raise LarkError(f"it isn't a Lark grammar: line {error.line}, column {error.column} isn't expected") from None
    definitions = Definitions()
    # As in Lark, names are imported first, wherever that is written.
    items = [item for item in tree.children if isinstance(item, Tree)]
    for item in sorted(items, key=lambda item: item.data not in ("import", "multi_import")):
        _add(definitions, item)
    return definitions


# Lark's syntax: the grammar of it in the package (lark 1.3.1, grammars/lark.lark), and what only the parser of the
# package, which doesn't use it, accepts (load_grammar.py). To be deleted when that grammar has these.
_SYNTAX = r"""
%import lark (start, _item, rule, token, rule_params, token_params, priority, statement, import_path, name_list, \
    expansions, alias, expansion, expr, atom, value, name, _VBAR, OP, RULE, TOKEN, STRING, REGEXP, _NL, COMMENT)
// The names of alternatives, which would get a prefix if they weren't imported.
%import lark (literal, literal_range, maybe, template_usage, ignore, import, multi_import, override_rule, declare)
%import common.WS_INLINE

%extend statement: "%override" token -> override_rule | "%extend" (rule | token) -> extend
%override RULE: /!?_?[a-z][_a-z0-9]*|(\?!?|!\?)[a-z][_a-z0-9]*/
%override OP: /[+*]|\?(?![a-z_])/

%ignore WS_INLINE
%ignore COMMENT
%ignore /\\[ ]*\n/
"""


@cache
def _parser() -> Lark:
    return Lark(_SYNTAX, parser="lalr", maybe_placeholders=False)


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
            definitions.define(_definition(definitions, item))
        case "override_rule":
            definitions.override(_definition(definitions, children[0]))
        case "extend":
            definitions.extend(_definition(definitions, children[0]))
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


def _definition(definitions: Definitions, item: Tree[Any]) -> Definition:
    children = item.children
    name = str(children[0]).lstrip("!?")  # how the rule's tree is built doesn't matter here
    return Definition(name, children[-1], definitions, item.data == "token", is_template=bool(children[1].children))


def _import(definitions: Definitions, path: list[str], name: str, alias: str) -> None:
    if len(path) != 1 or path[0] not in LIBRARIES:
        known = ", ".join(LIBRARIES)
        raise PatternError(f"{'.'.join(path)} can't be imported; Lark's own grammars can: {known}")
    definitions.imported[alias] = (definitions.library(path[0]), name)


def _path(tree: Tree[Any]) -> list[str]:
    """Returns the parts of an import's path; a relative one begins with an empty part."""
    return "".join(str(part) if isinstance(part, Token) else _name(part) for part in tree.children).split(".")


def _name(tree: Tree[Any]) -> str:
    return str(tree.children[0])
