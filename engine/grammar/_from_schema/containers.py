"""Objects and arrays of a schema as nodes. Properties are in the schema's order, followed by additional ones if
allowed.
"""

import re
from collections.abc import Iterator
from typing import Any, Protocol

from specvino.engine.grammar._ebnf.nodes import EMPTY, Grammar, Node, Repeat, Rule, Text, choice, sequence
from specvino.engine.grammar._ebnf.patterns import Pattern, PatternError
from specvino.engine.grammar._ebnf.right_linear import followed
from specvino.engine.grammar._errors import Path, Unsatisfiable
from specvino.engine.grammar._from_schema import json_text
from specvino.engine.grammar._from_schema.json_text import COMMA, QUOTE
from specvino.engine.grammar._json_schema import Conjunction, Subschema


class Builder(Protocol):
    """Converts the schemas of items and properties into rules of one grammar."""

    @property
    def grammar(self) -> Grammar: ...

    @property
    def unenforced(self) -> dict[Path, str]: ...

    def rule(self, parts: tuple[Subschema, ...]) -> Rule:
        """Returns the rule for values that satisfy all these schemas. Raises Unsatisfiable and GrammarError."""
        ...


def object_(schema: Conjunction, builder: Builder) -> Node:
    """Returns the node of the objects that satisfy a schema. Raises Unsatisfiable and GrammarError."""
    required = dict.fromkeys(name for names in schema.values("required") for name in names)
    declared = dict.fromkeys(name for properties in schema.values("properties") for name in properties)
    least = max((int(value) for value in schema.values("minProperties")), default=0)
    most: int | None = min((int(value) for value in schema.values("maxProperties")), default=None)
    pairs: list[tuple[Node, bool]] = []
    for name in {**declared, **required}:
        try:
            rule = builder.rule(tuple(_property(schema, name)))
        except Unsatisfiable as error:
            if name in required:
                raise Unsatisfiable(error.path, f"the required property {name!r}: {error}") from None
        else:
            pairs.append((sequence(json_text.literal(name), Text(": "), rule), name in required))
    other = _other(schema, {**declared, **required}, builder)
    needed = sum(is_required for _, is_required in pairs)
    if most is not None and (needed > most or least > most):
        path = next(schema.all("maxProperties")).path
        raise Unsatisfiable(path, f"no object has at least {max(needed, least)} and at most {most} properties")
    if not pairs and other is not None:
        if least > 1:
            builder.unenforced[next(schema.all("minProperties")).path] = "a name may occur twice"
        return json_text.enclosed("{", builder.grammar, other, least, most, "}")
    if least > len(pairs) and other is None:
        path = next(schema.all("minProperties")).path
        raise Unsatisfiable(path, f"at least {least} properties are required, but {len(pairs)} are allowed")
    if least > needed:
        builder.unenforced[next(schema.all("minProperties")).path] = (
            "it can't be enforced together with optional properties"
        )
    if most is not None and (other is not None or most < len(pairs)):
        builder.unenforced[next(schema.all("maxProperties")).path] = (
            "it can't be enforced together with optional properties"
        )
    return sequence(Text("{"), _pairs(pairs, other, builder), Text("}"))


def _pairs(pairs: list[tuple[Node, bool]], other: Node | None, builder: Builder) -> Node:
    """Returns the pairs in their order, built from the end. `rest` is the node after a pair, `first` the node after the
    opening brace.
    """
    grammar = builder.grammar
    rest: Node = EMPTY
    first: Node = EMPTY
    if other is not None:
        more = grammar.add("more", sequence(COMMA, other))
        rest = Repeat(more, 0, None)
        first = choice(EMPTY, sequence(other, rest))
    for pair, is_required in reversed(pairs):
        written_first, written = sequence(pair, rest), sequence(COMMA, pair, rest)
        first = written_first if is_required else choice(written_first, first)
        rest = written if is_required else choice(written, rest)
        # Named, since the previous pair refers to each of them.
        first, rest = grammar.add("first", first), grammar.add("rest", rest)
    return first


def _property(schema: Conjunction, name: str) -> Iterator[Subschema]:
    """Yields the schemas of the value under a name."""
    for part in schema.parts:
        is_named = False
        if name in part.schema.get("properties", {}):
            yield part.at("properties", name)
            is_named = True
        for pattern in part.schema.get("patternProperties", {}):
            if _matches(pattern, name):
                yield part.at("patternProperties", pattern)
                is_named = True
        if not is_named and "additionalProperties" in part.schema:
            yield part.at("additionalProperties")
        if "propertyNames" in part.schema and not _may_be_named(part, name):
            yield Subschema(False, part.at("propertyNames").path)


def _matches(pattern: str, name: str) -> bool:
    try:
        return re.search(pattern, name) is not None
    except re.error:
        return False


def _may_be_named(part: Subschema, name: str) -> bool:
    names = part.schema["propertyNames"]
    return not isinstance(names, dict) or "enum" not in names or name in names["enum"]


def _other(schema: Conjunction, declared: dict[str, None], builder: Builder) -> Node | None:
    """Returns a pair with an undeclared name; None if none is allowed."""
    patterns = [part.at("patternProperties") for part in schema.parts if part.schema.get("patternProperties")]
    additional = [part for part in schema.parts if "additionalProperties" in part.schema]
    if patterns:
        return _patterned(schema, patterns, declared, builder)
    if declared and not any(part.schema["additionalProperties"] is not False for part in additional):
        return None
    # A part with properties and without additionalProperties allows others, but doesn't require them.
    try:
        value = builder.rule(tuple(part.at("additionalProperties") for part in additional))
    except Unsatisfiable:
        return None
    return sequence(_key(schema, declared, builder), Text(": "), value)


def _key(schema: Conjunction, declared: dict[str, None], builder: Builder) -> Node:
    names = list(schema.all("propertyNames"))
    if names and names[0].schema is not True:
        if declared:
            for keyword in names:
                builder.unenforced[keyword.path] = "it can't be enforced together with properties"
        else:
            key = names[0].schema
            typed = Subschema({"type": "string", **key} if isinstance(key, dict) else key, names[0].path)
            return builder.rule((typed, *names[1:]))
    return json_text.other_key(builder.grammar, declared)


def _patterned(
    schema: Conjunction, patterns: list[Subschema], declared: dict[str, None], builder: Builder
) -> Node | None:
    """Returns the pairs whose names match the pattern, if there is only one pattern; names that match none are left
    out.
    """
    if len(patterns) > 1 or len(patterns[0].schema) > 1 or declared:
        return None
    (expression,) = patterns[0].schema
    located = patterns[0].at(expression)
    try:
        name = sequence(QUOTE, followed(builder.grammar, Pattern(expression).node(json_text.char), QUOTE))
    except PatternError as error:
        builder.unenforced[located.path] = str(error)
        name = json_text.any_string(builder.grammar)
    value = builder.rule((located,))
    return sequence(name, Text(": "), value)


def array(schema: Conjunction, builder: Builder) -> Node:
    """Returns the node of the arrays that satisfy a schema. Raises Unsatisfiable and GrammarError."""
    least = max((int(value) for value in schema.values("minItems")), default=0)
    most: int | None = min((int(value) for value in schema.values("maxItems")), default=None)
    fixed: list[Rule] = []
    rest: Rule | None = None
    count = max((len(_prefix(part)) for part in schema.parts), default=0)
    try:
        for index in range(count if most is None else min(count, most)):
            fixed.append(builder.rule(_item_schemas(schema, index)))
        if most is None or most > count:
            rest = builder.rule(_item_schemas(schema, None))
    except Unsatisfiable as error:
        most = len(fixed)
        if least > most:
            raise Unsatisfiable(error.path, f"an array of at least {least} items is required, but {error}") from None
    if most is not None and least > most:
        path = next(schema.all("minItems")).path
        raise Unsatisfiable(path, f"no array has at least {least} and at most {most} items")
    if rest is not None and not fixed:
        return json_text.enclosed("[", builder.grammar, rest, least, most, "]")
    inside = _from(fixed, rest, least, most, 0, builder)
    return sequence(Text("["), inside, Text("]"))


def _from(fixed: list[Rule], rest: Rule | None, least: int, most: int | None, index: int, builder: Builder) -> Node:
    """Returns the items from an index on, each preceded by a comma."""
    if index == len(fixed):
        if rest is None:
            return EMPTY
        more = builder.grammar.add("more", sequence(COMMA, rest))
        return builder.grammar.repeat(more, max(0, least - index), None if most is None else most - index)
    following = _from(fixed, rest, least, most, index + 1, builder)
    item = sequence(COMMA if index else EMPTY, fixed[index], following)
    return item if index < least else choice(EMPTY, builder.grammar.add("item", item))


def _prefix(part: Subschema) -> list[Any]:
    """Returns the schemas of the first items (`prefixItems`, or `items` before 2020-12)."""
    items = part.schema.get("items")
    return items if isinstance(items, list) else part.schema.get("prefixItems", [])


def _item_schemas(schema: Conjunction, index: int | None) -> tuple[Subschema, ...]:
    """Returns the schemas of the item at an index; None stands for the items after the prefix."""
    schemas = []
    for part in schema.parts:
        named = "items" if isinstance(part.schema.get("items"), list) else "prefixItems"
        others = "additionalItems" if named == "items" else "items"
        if index is not None and index < len(_prefix(part)):
            schemas.append(part.at(named, index))
        elif others in part.schema:
            schemas.append(part.at(others))
    return tuple(schemas)
