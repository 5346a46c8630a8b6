"""Lowers a request's constraint for the pipeline with the grammar package, and converts its errors to the engine's.

XGrammar 0.1.31, in GenAI 2026.4.1, allows unlimited white space (decision 007) and numbers below a fractional `minimum`
(decision 008), and ignores keywords silently (decision 009). So our own package converts schemas to grammars.
"""

import json

from specvino.engine.errors import ConstraintError
from specvino.engine.grammar import (
    GrammarError,
    LoweredConstraint,
    json_schema_example,
    lower_json_schema,
    lower_structural_tag,
    structural_tag_example,
)
from specvino.engine.request import Constraint, JsonSchema

# Characters of the schema or tag.
LONGEST = 262_144


def constraint_json(constraint: Constraint) -> str:
    """Returns the JSON text of a constraint's schema or tag. Raises ConstraintError if it is too long or too deep."""
    try:
        text = json.dumps(constraint.schema if isinstance(constraint, JsonSchema) else constraint.tag)
    except RecursionError:
        raise ConstraintError("it is nested too deeply") from None
    if len(text) > LONGEST:
        raise ConstraintError(f"it has {len(text)} characters of JSON; at most {LONGEST} are accepted")
    return text


def lower(constraint: Constraint) -> LoweredConstraint:
    """Lowers a constraint that `constraint_json` accepts for the pipeline. Raises ConstraintError for a constraint that
    is invalid, whose grammar is too large, or that is strict and can't be enforced.
    """
    try:
        if isinstance(constraint, JsonSchema):
            return lower_json_schema(constraint.schema, strict=constraint.strict)
        return lower_structural_tag(constraint.tag, strict=constraint.strict)
    except GrammarError as error:
        raise ConstraintError(str(error), error.path, unsupported=error.unsupported) from None


def example(constraint: Constraint) -> str | None:
    """Returns a short text that a constraint allows; None for structural tags that only XGrammar supports. The
    constraint must be valid for `lower`.
    """
    if isinstance(constraint, JsonSchema):
        return json_schema_example(constraint.schema)
    return structural_tag_example(constraint.tag)
