"""Lowers JSON Schemas and structural tags for XGrammar, and finds the shortest texts that they allow."""

import json
from collections.abc import Mapping
from typing import Any

from specvino.engine.grammar._ebnf import size
from specvino.engine.grammar._ebnf.finite_texts import shortest_text
from specvino.engine.grammar._ebnf.render import render
from specvino.engine.grammar._errors import GrammarError, Path
from specvino.engine.grammar._from_schema.converter import convert
from specvino.engine.grammar._lowered import Kind, LoweredConstraint
from specvino.engine.grammar._structural_tags import for_xgrammar, to_ebnf


def lower_json_schema(schema: Mapping[str, Any] | bool, *, strict: bool = False) -> LoweredConstraint:
    """Returns the grammar of the JSON texts that satisfy a schema.

    The schema is parsed JSON. It is validated, and external references are never fetched. Raises GrammarError for a
    schema that is invalid, unsatisfiable, or whose grammar would be too large; if `strict`, also for one with a keyword
    that can't be enforced. The caller must limit the length of the schema.
    """
    try:
        grammar, findings = convert(schema)
        return _checked("grammar", render(grammar), findings.unenforced, strict)
    except RecursionError:
        raise GrammarError((), "it is nested too deeply") from None


def lower_structural_tag(tag: Mapping[str, Any], *, strict: bool = False) -> LoweredConstraint:
    """Returns the grammar of the texts that a structural tag allows: `{"type": "structural_tag", "format": …}`.

    A tag with a format that only XGrammar supports stays a tag, in which grammars replace the JSON Schemas; nothing
    else in it is checked. Raises GrammarError as `lower_json_schema` does; `strict` concerns the schemas in the tag.
    """
    try:
        return _lowered_tag(tag, strict)
    except RecursionError:
        raise GrammarError((), "it is nested too deeply") from None


def json_schema_example(schema: Mapping[str, Any] | bool) -> str:
    """Returns the shortest JSON text that the grammar of a schema allows. Raises GrammarError."""
    return shortest_text(convert(schema)[0])


def structural_tag_example(tag: Mapping[str, Any]) -> str | None:
    """Returns the shortest text that a structural tag allows; None for a tag that only XGrammar supports. Raises
    GrammarError."""
    try:
        return shortest_text(to_ebnf.as_grammar(tag)[0])
    except to_ebnf.Unknown:
        return None


def _lowered_tag(tag: Mapping[str, Any], strict: bool) -> LoweredConstraint:
    try:
        grammar, unenforced = to_ebnf.as_grammar(tag)
    except to_ebnf.Unknown:
        parts, unenforced = for_xgrammar.lower(tag)
        return _checked("structural_tags_config", json.dumps(parts), unenforced, strict)
    return _checked("grammar", render(grammar), unenforced, strict)


def _checked(kind: Kind, text: str, unenforced: Mapping[Path, str], strict: bool) -> LoweredConstraint:
    if strict and unenforced:
        path, reason = next(iter(unenforced.items()))
        raise GrammarError(path, reason, unsupported=True)
    if len(text) > size.LONGEST:
        raise GrammarError((), f"its grammar has {len(text)} characters; at most {size.LONGEST} are accepted")
    return LoweredConstraint(kind, text, tuple(unenforced))
