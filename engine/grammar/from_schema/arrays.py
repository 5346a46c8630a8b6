"""Arrays that a schema describes, as nodes."""

from typing import Any

from specvino.engine.grammar.ebnf.nodes import EMPTY, Node, Rule, Text, choice, sequence
from specvino.engine.grammar.from_schema import json_text
from specvino.engine.grammar.from_schema.builder import Builder
from specvino.engine.grammar.from_schema.json_text import COMMA
from specvino.engine.json_schema.errors import Unsatisfiable
from specvino.engine.json_schema.subschema import Conjunction, Subschema


def array(schema: Conjunction, builder: Builder) -> Node:
    least = max((int(value) for value in schema.values("minItems")), default=0)
    most: int | None = min((int(value) for value in schema.values("maxItems")), default=None)
    fixed: list[Rule] = []
    rest: Rule | None = None
    count = max((len(_prefix(part)) for part in schema.parts), default=0)
    try:
        for index in range(count if most is None else min(count, most)):
            fixed.append(builder.rule(_items(schema, index)))
        if most is None or most > count:
            rest = builder.rule(_items(schema, None))
    except Unsatisfiable as error:
        most = len(fixed)
        if least > most:
            raise Unsatisfiable(error.path, f"an array of at least {least} items is demanded, but {error}") from None
    if most is not None and least > most:
        path = next(schema.all("minItems")).path
        raise Unsatisfiable(path, f"no array has at least {least} and at most {most} items")
    if rest is not None and not fixed:
        return json_text.enclosed("[", builder.grammar, rest, least, most, "]")
    inside = _from(fixed, rest, least, most, 0, builder)
    return sequence(Text("["), inside, Text("]"))


def _from(fixed: list[Rule], rest: Rule | None, least: int, most: int | None, index: int, builder: Builder) -> Node:
    """Returns the items from this one on, each after its comma."""
    if index == len(fixed):
        if rest is None:
            return EMPTY
        more = builder.grammar.add("more", sequence(COMMA, rest))
        return builder.grammar.repeat(more, max(0, least - index), None if most is None else most - index)
    following = _from(fixed, rest, least, most, index + 1, builder)
    item = sequence(COMMA if index else EMPTY, fixed[index], following)
    return item if index < least else choice(EMPTY, builder.grammar.add("item", item))


def _prefix(part: Subschema) -> list[Any]:
    """Returns the schemas of the first items; `items` was the name of their list before 2020."""
    items = part.schema.get("items")
    return items if isinstance(items, list) else part.schema.get("prefixItems", [])


def _items(schema: Conjunction, index: int | None) -> tuple[Subschema, ...]:
    """Returns what holds for the item at an index, or (None) for those after all that have schemas of their own."""
    found = []
    for part in schema.parts:
        named = "items" if isinstance(part.schema.get("items"), list) else "prefixItems"
        others = "additionalItems" if named == "items" else "items"
        if index is not None and index < len(_prefix(part)):
            found.append(part.at(named, index))
        elif others in part.schema:
            found.append(part.at(others))
    return tuple(found)
