"""What a constraint comes to: what the pipeline would be given for it, and a short text that it allows."""

import functools
import json
from dataclasses import dataclass

from specvino.engine.grammar import LoweredConstraint
from specvino.engine.request import Constraint, JsonSchema, StructuralTag
from specvino.engine.structured_output import constraint_json, example, lower


@dataclass(frozen=True, slots=True)
class WorkedOut:
    """Holds the lowered constraint, and a text that it allows; None for a structural tag that only XGrammar knows."""

    lowered: LoweredConstraint
    example: str | None


def worked_out(constraint: Constraint) -> WorkedOut:
    """Returns what a constraint comes to, which is worked out once for each of the last ones.

    Raises ConstraintError for one that the real engine would refuse by its own rules.
    """
    return _worked_out(isinstance(constraint, JsonSchema), constraint_json(constraint), constraint.strict)


@functools.lru_cache(maxsize=256)
def _worked_out(is_schema: bool, text: str, strict: bool) -> WorkedOut:
    said = json.loads(text)
    constraint = JsonSchema(said, strict) if is_schema else StructuralTag(said, strict)
    return WorkedOut(lower(constraint), example(constraint))
