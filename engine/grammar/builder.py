"""What arrays and objects need of the conversion that they are a part of."""

from typing import Protocol

from specvino.engine.grammar.errors import Path
from specvino.engine.grammar.located import Located
from specvino.engine.grammar.nodes import Grammar, Rule


class Builder(Protocol):
    @property
    def grammar(self) -> Grammar: ...

    @property
    def unenforced(self) -> dict[Path, str]: ...

    def rule(self, parts: tuple[Located, ...]) -> Rule:
        """The rule for values that satisfy all these schemas. Raises Impossible and SchemaError."""
        ...
