"""A request's constraint -> what the pipeline is given."""

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from specvino.engine.errors import ConstraintError
from specvino.engine.grammar import structural
from specvino.engine.grammar.ebnf import render
from specvino.engine.grammar.errors import Path, SchemaError
from specvino.engine.grammar.schema import convert
from specvino.engine.grammar.shortest import shortest
from specvino.engine.request import Constraint, JsonSchema

if TYPE_CHECKING:
    from collections.abc import Mapping

# Characters, of the schema or tag and of the grammar that it becomes.
LONGEST = 262_144
LONGEST_GRAMMAR = 1_048_576


@dataclass(frozen=True, slots=True)
class Form:
    """`text` is a grammar in XGrammar's notation, or a structural tag, by the names of the pipeline's own options."""

    kind: Literal["grammar", "structural_tags_config"]
    text: str
    unenforced: tuple[Path, ...] = ()


def lower(constraint: Constraint) -> Form:
    """Raises ConstraintError for what is wrong, too large, or strict and not to be enforced."""
    try:
        if isinstance(constraint, JsonSchema):
            converted = convert(_parsed(constraint.schema))
            form = Form("grammar", render(converted.grammar))
            unenforced: Mapping[Path, str] = converted.unenforced
        else:
            tag, unenforced = structural.lower(_parsed(constraint.tag))
            form = Form("structural_tags_config", json.dumps(tag))
    except SchemaError as error:
        raise ConstraintError(str(error), error.path) from None
    if len(form.text) > LONGEST_GRAMMAR:
        raise ConstraintError("the schema is too large to be enforced")
    if constraint.strict and unenforced:
        path, reason = next(iter(unenforced.items()))
        raise ConstraintError(reason, path, unsupported=True)
    return Form(form.kind, form.text, tuple(unenforced))


def example(constraint: Constraint) -> str | None:
    """A short text that the constraint allows; None for structural tags that leave room for any text.

    Raises ConstraintError like `lower`.
    """
    lower(constraint)
    if isinstance(constraint, JsonSchema):
        return shortest(convert(_parsed(constraint.schema)).grammar)
    return structural.example(_parsed(constraint.tag))


def _parsed(text: str) -> object:
    if len(text) > LONGEST:
        raise SchemaError((), f"it has {len(text)} characters of JSON, but may have {LONGEST}")
    return json.loads(text)
