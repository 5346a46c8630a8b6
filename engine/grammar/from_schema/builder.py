"""The builder: what arrays and objects need of the conversion that they are a part of."""

from typing import Protocol

from specvino.engine.grammar.ebnf.nodes import Grammar, Rule
from specvino.engine.json_schema.errors import Path
from specvino.engine.json_schema.subschema import Subschema


class Builder(Protocol):
    """Converts schemas into rules of one grammar, for arrays and objects that hold others."""

    @property
    def grammar(self) -> Grammar: ...

    @property
    def unenforced(self) -> dict[Path, str]: ...

    def rule(self, parts: tuple[Subschema, ...]) -> Rule:
        """Returns the rule for values that satisfy all these schemas. Raises Unsatisfiable and SchemaError."""
        ...
