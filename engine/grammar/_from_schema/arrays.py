"""Arrays of a schema as nodes."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from specvino.engine.grammar._automata.automaton import distances
from specvino.engine.grammar._ebnf.nodes import EMPTY, Grammar, Node, Rule, Text, choice, sequence
from specvino.engine.grammar._errors import Path, Unsatisfiable
from specvino.engine.grammar._from_schema import json_text
from specvino.engine.grammar._from_schema.builder import MOST_STATES, Builder, TooManyStates
from specvino.engine.grammar._from_schema.json_text import COMMA
from specvino.engine.grammar._json_schema import Conjunction, Subschema

# Different items of a longer list are generated in the order of the list, as there is a state for each set of items.
MOST_IN_ANY_ORDER = 8


def array(schema: Conjunction, builder: Builder) -> Node:
    """Returns the node of the arrays that satisfy a schema. Raises Unsatisfiable and GrammarError."""
    contained = list(_contained(schema))
    least = max((int(value) for value in schema.values("minItems")), default=0)
    most: int | None = min((int(value) for value in schema.values("maxItems")), default=None)
    for one in contained:
        if one.is_any:  # then it counts the items
            least = max(least, one.least)
            most = min((bound for bound in (most, one.most) if bound is not None), default=None)
    contained = [one for one in contained if not one.is_any and (one.least or one.most is not None)]
    fixed: list[tuple[Subschema, ...]] = []
    rest: tuple[Subschema, ...] | None = None
    count = max((len(_prefix(part)) for part in schema.parts), default=0)
    try:
        for index in range(count if most is None else min(count, most)):
            fixed.append(_possible(_item_schemas(schema, index), builder))
        if most is None or most > count:
            rest = _possible(_item_schemas(schema, None), builder)
    except Unsatisfiable as error:
        most = len(fixed)
        if least > most:
            raise Unsatisfiable(error.path, f"an array of at least {least} items is required, but {error}") from None
    if most is not None and least > most:
        path = next((part for name in ("minItems", "contains") for part in schema.all(name)), schema.parts[0]).path
        raise Unsatisfiable(path, f"no array has at least {least} and at most {most} items")
    unique = tuple(keyword.path for keyword in schema.all("uniqueItems") if keyword.schema and most != 1)
    conditions = _Conditions(contained, unique)
    if conditions and (inside := _with_conditions(fixed, rest, least, most, conditions, builder)) is not None:
        return sequence(Text("["), inside, Text("]"))
    rules = [builder.rule(parts) for parts in fixed]
    others = None if rest is None else builder.rule(rest)
    if others is not None and not rules:
        return json_text.enclosed("[", builder.grammar, others, least, most, "]")
    return sequence(Text("["), _from(rules, others, least, most, builder), Text("]"))


def _possible(parts: tuple[Subschema, ...], builder: Builder) -> tuple[Subschema, ...]:
    """Returns the schemas of an item. Raises Unsatisfiable."""
    builder.rule(parts)
    return parts


def _from(fixed: list[Rule], rest: Rule | None, least: int, most: int | None, builder: Builder) -> Node:
    """Returns the items with commas between them: the `fixed` ones, and then any of `rest`."""
    node: Node = EMPTY
    if rest is not None:
        more = builder.grammar.add("more", sequence(COMMA, rest))
        room = None if most is None else most - len(fixed)
        node = builder.grammar.repeat(more, max(0, least - len(fixed)), room)
    for index in reversed(range(len(fixed))):
        item = sequence(COMMA if index else EMPTY, fixed[index], node)
        node = item if index < least else choice(EMPTY, builder.grammar.add("item", item))
    return node


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


@dataclass(frozen=True, slots=True)
class _Contained:
    """How many items must satisfy a schema (`contains`, `minContains` and `maxContains`)."""

    schema: Subschema
    least: int
    most: int | None
    owner: Subschema

    @property
    def is_any(self) -> bool:
        return self.schema.schema in (True, {})


def _contained(schema: Conjunction) -> Iterator[_Contained]:
    for part in schema.parts:
        if "contains" in part.schema:
            most = part.schema.get("maxContains")
            least = int(part.schema.get("minContains", 1))
            yield _Contained(part.at("contains"), least, None if most is None else int(most), part)


@dataclass(frozen=True, slots=True)
class _Item:
    """An alternative for an item. `value` is its number among the listed values, None for any other alternative, and
    `contained` has the numbers of the conditions that it surely satisfies."""

    node: Node
    value: int | None
    contained: frozenset[int]


@dataclass(frozen=True, slots=True)
class _State:
    """How many items there are, as far as it matters, which values are among them, and how many satisfy each condition.
    Where values come in order, `following` is the first that may follow."""

    is_first: bool
    index: int
    used: frozenset[int]
    following: int
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Conditions:
    """What concerns several items together: how many satisfy a schema, and that all differ (`uniqueItems`)."""

    contained: list[_Contained]
    unique: tuple[Path, ...]

    def __bool__(self) -> bool:
        return bool(self.contained or self.unique)

    def paths(self) -> list[Path]:
        """Returns the paths of the keywords."""
        return [*(one.schema.path for one in self.contained), *self.unique]


def _with_conditions(
    fixed: list[tuple[Subschema, ...]],
    rest: tuple[Subschema, ...] | None,
    least: int,
    most: int | None,
    conditions: _Conditions,
    builder: Builder,
) -> Node | None:
    """Returns the items that satisfy the conditions, with commas between them; None if no condition can be enforced.
    The conditions that aren't enforced are reported. Raises Unsatisfiable and GrammarError."""
    positions = fixed if rest is None else [*fixed, rest]
    listed = [builder.listed(parts) for parts in positions]
    if None in listed:
        conditions = _without_values(conditions, builder)
    if not conditions:
        return None
    values = [] if None in listed else _distinct([value for one in listed for value in one or ()])
    items = [
        _items(parts, own, values, conditions.contained, builder) for parts, own in zip(positions, listed, strict=True)
    ]
    in_order = len(values) if conditions.unique and len(values) > MOST_IN_ANY_ORDER else 0
    try:
        inside = _Arrays(items, rest is not None, least, most, conditions, in_order=in_order).node(builder.grammar)
    except TooManyStates:
        reason = f"it takes more than {MOST_STATES} rules"
    else:
        if inside is not None:
            return inside
        if not in_order:
            subject = f"no array of at least {least} items" if least else "no array"
            raise Unsatisfiable(conditions.paths()[0], f"{subject} satisfies it beside the schemas of the items")
        reason = f"with the other keywords it is enforced for at most {MOST_IN_ANY_ORDER} different values"
    builder.unenforced.update(dict.fromkeys(conditions.paths(), reason))
    return None


def _without_values(conditions: _Conditions, builder: Builder) -> _Conditions:
    """Returns the conditions that can be enforced if the items aren't listed, and reports the others."""
    reason = "it is enforced for listed values, booleans and null only"
    builder.unenforced.update(dict.fromkeys(conditions.unique, reason))
    contained: list[_Contained] = []
    for one in conditions.contained:
        if one.most is not None:
            builder.unenforced[one.owner.at("maxContains").path] = "it is enforced for listed values only"
        if one.least and contained:
            builder.unenforced[one.schema.path] = "beside another one it is enforced for listed values only"
        elif one.least:
            contained.append(_Contained(one.schema, one.least, None, one.owner))
    return _Conditions(contained, ())


def _distinct(values: Sequence[Any]) -> list[Any]:
    """Returns the values without those that JSON Schema takes for equal, such as 1 and 1.0."""
    return list({_key(value): value for value in reversed(values)}.values())[::-1]


def _key(value: Any) -> str:
    return json.dumps(_normal(value), sort_keys=True)


def _normal(value: Any) -> Any:
    match value:
        case float() if value == int(value):
            return int(value)
        case list():
            return [_normal(item) for item in value]
        case dict():
            return {name: _normal(item) for name, item in value.items()}
    return value


def _items(
    parts: tuple[Subschema, ...],
    listed: list[Any] | None,
    values: list[Any],
    contained: list[_Contained],
    builder: Builder,
) -> list[_Item]:
    """Returns the alternatives for an item."""
    if values and listed is not None:
        keys = [_key(value) for value in values]
        tests = [builder.test((one.schema,)) for one in contained]
        return [
            _Item(
                json_text.literal(value),
                keys.index(_key(value)),
                frozenset(index for index, test in enumerate(tests) if test(value)),
            )
            for value in _distinct(listed)
        ]
    items = [_Item(builder.rule(parts), None, frozenset())]
    for index, one in enumerate(contained):
        try:
            items.append(_Item(builder.rule((*parts, one.schema)), None, frozenset([index])))
        except Unsatisfiable:
            continue
    return items


class _Arrays:
    """The automaton of arrays whose items satisfy conditions. `in_order` is the number of values that come in the order
    in which they are listed, 0 if values come in any order."""

    def __init__(
        self,
        items: list[list[_Item]],
        has_rest: bool,
        least: int,
        most: int | None,
        conditions: _Conditions,
        *,
        in_order: int,
    ) -> None:
        self._items = items
        self._has_rest = has_rest
        self._least = least
        self._most = most
        self._contained = conditions.contained
        self._unique = bool(conditions.unique)
        self._in_order = in_order
        self._by_value = [{item.value: item for item in alternatives} for alternatives in items]
        # Beyond this index, all items are alike.
        self._last = max(least, len(items)) if most is None else most

    def node(self, grammar: Grammar) -> Node | None:
        """Returns the items with commas between them; None if there are no such arrays. Raises TooManyStates."""
        start = _State(True, 0, frozenset(), 0, (0,) * len(self._contained))
        steps: dict[_State, list[tuple[Node | None, _State]]] = {}
        left = [start]
        for state in left:
            if state in steps:
                continue
            if len(steps) >= MOST_STATES:
                raise TooManyStates
            steps[state] = list(self._steps(state))
            left += [target for _, target in steps[state]]
        targets = {state: [target for _, target in edges] for state, edges in steps.items()}
        live = distances(targets, filter(self._may_end, steps))
        if start not in live:
            return None
        rules = {state: grammar.add("items", EMPTY) for state in steps if state in live}
        for state, rule in rules.items():
            comma = EMPTY if state.is_first else COMMA
            options: list[Node] = [EMPTY] if self._may_end(state) else []
            by_target: dict[_State, list[Node]] = {}
            for node, target in steps[state]:
                if target in live and node is None:
                    options.append(rules[target])
                elif target in live and node is not None:
                    by_target.setdefault(target, []).append(node)
            options += [sequence(comma, choice(*nodes), rules[target]) for target, nodes in by_target.items()]
            grammar.rules[rule.name] = choice(*options)
        return rules[start]

    def _steps(self, state: _State) -> Iterator[tuple[Node | None, _State]]:
        """Yields the items that may follow, and the states after them; None leaves out a value."""
        if state.following < self._in_order:
            yield None, replace(state, following=state.following + 1)
        if self._most is not None and state.index >= self._most:
            return
        if state.index >= len(self._items) and not self._has_rest:
            return
        position = min(state.index, len(self._items) - 1)
        following = state.following
        if self._in_order:
            items = [item] if (item := self._by_value[position].get(following)) else []
            following += 1
        else:
            items = self._items[position]
        for item in items:
            counts = tuple(
                self._count(one, count + (index in item.contained))
                for index, (one, count) in enumerate(zip(self._contained, state.counts, strict=True))
            )
            if any(
                one.most is not None and count > one.most for one, count in zip(self._contained, counts, strict=True)
            ):
                continue
            used = state.used
            if self._unique and not self._in_order and item.value is not None:
                if item.value in used:
                    continue
                used |= {item.value}
            yield item.node, _State(False, min(state.index + 1, self._last), used, following, counts)

    @staticmethod
    def _count(one: _Contained, count: int) -> int:
        return count if one.most is not None else min(count, one.least)

    def _may_end(self, state: _State) -> bool:
        return (
            state.index >= self._least
            and state.following == self._in_order
            and all(count >= one.least for one, count in zip(self._contained, state.counts, strict=True))
        )
