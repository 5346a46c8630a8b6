"""Structured output: what the pipeline is given for a request's constraint."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from specvino.engine.errors import ConstraintError
from specvino.engine.grammar.ebnf import size
from specvino.engine.grammar.ebnf.example import shortest_text
from specvino.engine.grammar.ebnf.render import render
from specvino.engine.grammar.from_schema.converter import convert
from specvino.engine.grammar.structural_tags import for_xgrammar, to_ebnf
from specvino.engine.json_schema.errors import Path, SchemaError
from specvino.engine.request import Constraint, JsonSchema

# Characters of the schema or tag.
LONGEST = 262_144

Kind = Literal["grammar", "structural_tags_config"]


@dataclass(frozen=True, slots=True)
class LoweredConstraint:
    """Holds a constraint as the pipeline takes it. `text` is a grammar of ours in XGrammar's notation, or a structural
    tag that only XGrammar knows, by the names of the pipeline's own options."""

    kind: Kind
    text: str
    unenforced: tuple[Path, ...] = ()


def constraint_json(constraint: Constraint) -> str:
    """Returns the JSON text of a constraint's schema or tag. Raises ConstraintError for one too long or too deep."""
    try:
        text = json.dumps(constraint.schema if isinstance(constraint, JsonSchema) else constraint.tag)
    except RecursionError:
        raise ConstraintError("it is nested too deeply") from None
    if len(text) > LONGEST:
        raise ConstraintError(f"it has {len(text)} characters of JSON, but may have {LONGEST}")
    return text


def lower(constraint: Constraint) -> LoweredConstraint:
    """Lowers a constraint, whose length `constraint_json` has judged, for the pipeline.

    Raises ConstraintError for what is wrong, becomes too large a grammar, or is strict and not to be enforced.
    """
    try:
        lowered = _lowered(constraint)
    except SchemaError as error:
        raise ConstraintError(str(error), error.path) from None
    except RecursionError:
        raise ConstraintError("it is nested too deeply") from None
    if len(lowered.text) > size.LONGEST:
        message = f"it becomes a grammar of {len(lowered.text)} characters, accepted are {size.LONGEST}"
        raise ConstraintError(message)
    return lowered


def example(constraint: Constraint) -> str | None:
    """Returns a short text that the constraint allows; None for structural tags that only XGrammar knows.

    The constraint is one that `lower` takes.
    """
    if isinstance(constraint, JsonSchema):
        return shortest_text(convert(constraint.schema)[0])
    try:
        return shortest_text(to_ebnf.as_grammar(constraint.tag)[0])
    except to_ebnf.Unknown:
        return None


def _lowered(constraint: Constraint) -> LoweredConstraint:
    if isinstance(constraint, JsonSchema):
        grammar, findings = convert(constraint.schema)
        return _enforceable("grammar", render(grammar), findings.unenforced, constraint)
    tag = constraint.tag
    try:
        whole, unenforced = to_ebnf.as_grammar(tag)
    except to_ebnf.Unknown:
        parts, unenforced = for_xgrammar.lower(tag)
        return _enforceable("structural_tags_config", json.dumps(parts), unenforced, constraint)
    return _enforceable("grammar", render(whole), unenforced, constraint)


def _enforceable(kind: Kind, text: str, unenforced: Mapping[Path, str], constraint: Constraint) -> LoweredConstraint:
    if constraint.strict and unenforced:
        path, reason = next(iter(unenforced.items()))
        raise ConstraintError(reason, path, unsupported=True)
    return LoweredConstraint(kind, text, tuple(unenforced))
