"""The interface of a schema's conversion for the conversions of objects and arrays."""

from collections.abc import Callable
from typing import Any, Protocol

from specvino.engine.grammar._ebnf.nodes import Grammar, Rule
from specvino.engine.grammar._errors import Path
from specvino.engine.grammar._from_schema.strings import Strings
from specvino.engine.grammar._json_schema import Conjunction, Subschema

# Properties or items that are counted, or depend on each other, take a rule for each state in which a value may be.
MOST_STATES = 4096


class TooManyStates(Exception):
    """An object or array would take more than MOST_STATES rules."""


class Builder(Protocol):
    """Converts the schemas of items and properties into rules of one grammar."""

    @property
    def grammar(self) -> Grammar: ...

    @property
    def unenforced(self) -> dict[Path, str]: ...

    @property
    def strings(self) -> Strings: ...

    def rule(self, parts: tuple[Subschema, ...]) -> Rule:
        """Returns the rule for values that satisfy all these schemas. Raises Unsatisfiable and GrammarError."""
        ...

    def conjunction(self, parts: tuple[Subschema, ...]) -> Conjunction:
        """Returns the schemas without references. Raises Unsatisfiable and GrammarError."""
        ...

    def test(self, parts: tuple[Subschema, ...]) -> Callable[[Any], bool]:
        """Returns a function that validates a value by all of these schemas. Raises GrammarError."""
        ...

    def listed(self, parts: tuple[Subschema, ...]) -> list[Any] | None:
        """Returns the values that satisfy all these schemas, if one lists them or admits only booleans and null; None
        otherwise. Raises Unsatisfiable and GrammarError."""
        ...
