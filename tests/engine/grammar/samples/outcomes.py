"""What becomes of a schema: its grammar enforces all of it, or some keywords are named, or it is refused."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from samples.matcher import Matcher
from samples.sentences import sentences
from specvino.engine.grammar import GrammarError
from specvino.engine.grammar._ebnf.finite_texts import shortest_text
from specvino.engine.grammar._ebnf.nodes import Grammar
from specvino.engine.grammar._errors import Path
from specvino.engine.grammar._from_schema.converter import convert
from specvino.engine.grammar._from_schema.keywords import ENFORCED, UNENFORCED

# What a reason has of the schema: names, numbers, the validator's message, and the way to a required property.
_PARTICULARS = re.compile(r"'[^']*'|(?<=valid JSON Schema: ).*|(?<=internal error: ).*|\b\d+\b", re.DOTALL)
_WITHIN = re.compile(r"(?:the required property …: )+")


CRASH = "an internal error"


@dataclass(frozen=True)
class Outcome:
    """`grammar` is None for a schema that is refused, `unenforced` has the reasons by path. `annotations` are the
    formats that needn't be enforced."""

    grammar: Grammar | None
    unenforced: dict[Path, str]
    annotations: frozenset[Path] = frozenset()
    refusal: str = ""

    @property
    def enforced(self) -> bool:
        return self.grammar is not None and not self.unenforced

    @property
    def free(self) -> set[Path]:
        """The keywords that texts of the grammar may violate."""
        return {*self.unenforced, *self.annotations}

    @property
    def named(self) -> list[str]:
        """The keywords that aren't enforced."""
        return sorted({keyword(path) for path in self.unenforced})

    @property
    def reason(self) -> str:
        """Why it is refused, without what only this schema has."""
        return _WITHIN.sub("a required property: ", _PARTICULARS.sub("…", self.refusal))

    def __str__(self) -> str:
        if self.grammar is None:
            return f"refused: {self.refusal}"
        return "enforced" if self.enforced else f"named: {', '.join(self.named)}"

    @cached_property
    def matcher(self) -> Matcher:
        assert self.grammar is not None
        return Matcher(self.grammar)

    def texts(self, count: int) -> Iterator[str]:
        """Yields the shortest text, and random ones."""
        assert self.grammar is not None
        yield shortest_text(self.grammar)
        yield from sentences(self.grammar, count, most_steps=500)


def outcome(schema: Any) -> Outcome:
    try:
        grammar, findings = convert(schema)
    except GrammarError as error:
        return Outcome(None, {}, refusal=str(error))
    except Exception as error:  # a test fails for it, but all other schemas are tried, too
        return Outcome(None, {}, refusal=f"{CRASH}: {error!r}")
    return Outcome(grammar, findings.unenforced, frozenset(findings.annotations))


def keyword(path: Path) -> str:
    """Returns the keyword that a path leads to; after `patternProperties` a path has the expression. A path to a schema
    leads to none.
    """
    return next((str(step) for step in reversed(path) if step in ENFORCED or step in UNENFORCED), "no keyword")
