"""Objects of a schema as nodes. Properties are in the schema's order, followed by additional ones if allowed."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations

import jsonschema_rs

from specvino.engine.grammar._automata.expressions import Expression, Expressions, PatternError
from specvino.engine.grammar._automata.patterns import searched
from specvino.engine.grammar._ebnf.nodes import EMPTY, Grammar, Node, Rule, Text, choice, sequence
from specvino.engine.grammar._errors import Unsatisfiable
from specvino.engine.grammar._from_schema import json_text
from specvino.engine.grammar._from_schema.builder import MOST_STATES, Builder, TooManyStates
from specvino.engine.grammar._from_schema.json_text import COMMA, QUOTE
from specvino.engine.grammar._from_schema.keywords import UNENFORCED
from specvino.engine.grammar._from_schema.strings import Constraint
from specvino.engine.grammar._json_schema import Conjunction, Subschema, named_by_all

# With more patterns, only names that match exactly one of them are generated.
MOST_COMBINED_PATTERNS = 4

_COUNTING = ("minProperties", "maxProperties", "dependentRequired", "dependencies")


def object_(schema: Conjunction, builder: Builder) -> Node:
    """Returns the node of the objects that satisfy a schema. Raises Unsatisfiable and GrammarError."""
    needed = _needed(schema)
    required = dict.fromkeys(name for names in schema.values("required") for name in names)
    declared = dict.fromkeys(name for properties in schema.values("properties") for name in properties)
    declared |= required | dict.fromkeys(name for trigger, names in needed.items() for name in (trigger, *names))
    pairs: dict[str, Node] = {}
    for name in declared:
        try:
            rule = builder.rule(tuple(_property(schema, name, builder)))
        except Unsatisfiable as error:
            if name in required:
                raise Unsatisfiable(error.path, f"the required property {name!r}: {error}") from None
        else:
            pairs[name] = sequence(json_text.literal(name), Text(": "), rule)
    other = _other(schema, declared, builder)
    least = max((int(value) for value in schema.values("minProperties")), default=0)
    most: int | None = min((int(value) for value in schema.values("maxProperties")), default=None)
    for keyword in schema.all("minProperties"):
        if other is not None and keyword.schema > len(required) + 1:
            builder.unenforced[keyword.path] = "a name may occur twice"
    if not pairs and other is not None and (most is None or least <= most):
        return json_text.enclosed("{", builder.grammar, other, least, most, "}")
    try:
        inside = _Pairs(pairs, required, needed, other, least, most).node(builder.grammar)
    except TooManyStates:
        for name in _COUNTING:
            for part in schema.all(name):
                builder.unenforced[part.path] = f"with the other properties it takes more than {MOST_STATES} rules"
        inside = _Pairs(pairs, required, {}, other, 0, None).node(builder.grammar)
    if inside is None:
        counting = next((part for keyword in _COUNTING for part in schema.all(keyword)), schema.parts[0])
        raise Unsatisfiable(
            counting.path, f"excludes all objects: of {len(pairs)} possible properties, {len(required)} are required"
        )
    return sequence(Text("{"), inside, Text("}"))


def _needed(schema: Conjunction) -> dict[str, tuple[str, ...]]:
    """Returns the names that must be present if a name is (`dependentRequired`, before 2019-09 `dependencies`)."""
    needed: dict[str, tuple[str, ...]] = {}
    for keyword in (*schema.values("dependentRequired"), *schema.values("dependencies")):
        for name, names in keyword.items():
            if isinstance(names, list):
                needed[name] = (*needed.get(name, ()), *names)
    return needed


@dataclass(frozen=True, slots=True)
class _State:
    """How many properties there are, as far as it matters, and which later ones must or must not follow."""

    is_first: bool = True
    count: int = 0
    must: frozenset[str] = frozenset()
    never: frozenset[str] = frozenset()


class _Pairs:
    """The pairs of an object in their order: `pairs` by name, and then any number of `other`."""

    def __init__(
        self,
        pairs: dict[str, Node],
        required: Collection[str],
        needed: Mapping[str, tuple[str, ...]],
        other: Node | None,
        least: int,
        most: int | None,
    ) -> None:
        self._pairs = pairs
        self._required = required
        self._position = {name: index for index, name in enumerate(pairs)}
        self._needed = {trigger: names for trigger, names in needed.items() if trigger in pairs}
        self._other = other
        self._least = least if least > len(required) else 0
        self._most = None if other is None and most is not None and most >= len(pairs) else most

    def node(self, grammar: Grammar) -> Node | None:
        """Returns the node; None if no object satisfies the conditions. Raises TooManyStates."""
        excluded = {trigger for trigger, names in self._needed.items() if not self._position.keys() >= set(names)}
        start = _State(never=frozenset(excluded))
        layers = [{start: None}]
        for name in self._pairs:
            layers.append(dict.fromkeys(state for before in layers[-1] for state in self._steps(before, name) if state))
            if sum(map(len, layers)) > max(MOST_STATES, 2 * len(self._pairs) + 2):
                raise TooManyStates
        more = grammar.add("more", sequence(COMMA, self._other)) if self._other is not None else None
        after = {state: node for state in layers[-1] if (node := self._end(state, more, grammar)) is not None}
        for name, states in zip(reversed(self._pairs), reversed(layers[:-1]), strict=True):
            before: dict[_State, Node] = {}
            for state in states:
                present, absent = self._steps(state, name)
                options: list[Node] = []
                if present in after:
                    comma = EMPTY if state.is_first else COMMA
                    options.append(sequence(comma, self._pairs[name], after[present]))
                if absent in after:
                    options.append(after[absent])
                if options:
                    # Named, since several states before it may refer to each of them.
                    before[state] = grammar.add("first" if state.is_first else "rest", choice(*options))
            after = before
        return after.get(start)

    def _steps(self, state: _State, name: str) -> tuple[_State | None, _State | None]:
        """Returns the states after a property, if it is present and if it is absent; None if it can't be."""
        position = self._position
        present = absent = None
        if name not in state.never and (self._most is None or state.count < self._most):
            later = {one for one in self._needed.get(name, ()) if position[one] > position[name]}
            count = state.count + 1 if self._most is not None else min(state.count + 1, self._least)
            present = _State(False, count, (state.must | later) - {name}, state.never)
        if name not in self._required and name not in state.must:
            triggers = {one for one, names in self._needed.items() if name in names and position[one] > position[name]}
            absent = replace(state, never=(state.never | triggers) - {name})
        return present, absent

    def _end(self, state: _State, more: Rule | None, grammar: Grammar) -> Node | None:
        """Returns the other properties."""
        missing = max(self._least - state.count, 0)
        room = None if self._most is None else self._most - state.count
        if self._other is None or more is None or room == 0:
            return None if missing else EMPTY
        if room is not None and missing > room:
            return None
        if not state.is_first:
            return grammar.repeat(more, missing, room)
        rest = grammar.repeat(more, max(missing - 1, 0), None if room is None else room - 1)
        filled = sequence(self._other, rest)
        return filled if missing else choice(EMPTY, filled)


def _property(schema: Conjunction, name: str, builder: Builder) -> Iterator[Subschema]:
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
        if "propertyNames" in part.schema and not builder.test((part.at("propertyNames"),))(name):
            yield Subschema(False, part.at("propertyNames").path)


@lru_cache(maxsize=4096)
def _matches(pattern: str, name: str) -> bool:
    try:
        return bool(jsonschema_rs.validator_for({"pattern": pattern}).is_valid(name))
    except ValueError:
        return False


def _other(schema: Conjunction, declared: Collection[str], builder: Builder) -> Node | None:
    """Returns a pair with an undeclared name; None if none is allowed."""
    patterns = [keyword.at(pattern) for keyword in schema.all("patternProperties") for pattern in keyword.schema]
    # A part with properties and without additionalProperties allows others, but doesn't require them.
    allows_any = any(value is not False for value in schema.values("additionalProperties"))
    options = []
    for matched in _combinations(patterns):
        if not matched and (declared or patterns) and not allows_any:
            continue
        try:
            name = _name(schema, matched, patterns, declared, builder)
            value = builder.rule(tuple(_value(schema, matched)))
        except Unsatisfiable:
            continue
        options.append(sequence(name, Text(": "), value))
    return choice(*options) if options else None


def _combinations(patterns: list[Subschema]) -> Iterator[tuple[Subschema, ...]]:
    """Yields sets of patterns that a name may match."""
    for count in range(len(patterns) + 1 if len(patterns) <= MOST_COMBINED_PATTERNS else 2):
        yield from combinations(patterns, count)


def _value(schema: Conjunction, matched: Collection[Subschema]) -> Iterator[Subschema]:
    """Yields the schemas of the value under an undeclared name that matches these patterns."""
    paths = {pattern.path for pattern in matched}
    for part in schema.parts:
        own = [part.at("patternProperties", pattern) for pattern in part.schema.get("patternProperties", {})]
        fitting = [pattern for pattern in own if pattern.path in paths]
        yield from fitting
        if not fitting and "additionalProperties" in part.schema:
            yield part.at("additionalProperties")


def _name(
    schema: Conjunction,
    matched: Collection[Subschema],
    patterns: Collection[Subschema],
    declared: Collection[str],
    builder: Builder,
) -> Node:
    """Returns the undeclared names that match some of the patterns, and not the others. Raises Unsatisfiable."""
    names = tuple(keyword for keyword in schema.all("propertyNames") if keyword.schema is not True)
    if not names and not patterns:
        return json_text.other_key(builder.grammar, declared)
    if names and "string" not in named_by_all(builder.conjunction(names).values("type")):
        raise Unsatisfiable(names[0].path, "no name is a string of this schema")
    if not patterns and not declared and builder.listed(names) is None:
        typed = names[0].schema
        first = Subschema({**typed, "type": "string"} if isinstance(typed, dict) else typed, names[0].path)
        return builder.rule((first, *names[1:]))
    e = builder.strings.expressions
    constraints = list(_named(names, builder))
    for pattern in patterns:
        try:
            excluded = pattern not in matched
            language = searched(e, str(pattern.path[-1]), excluded=excluded)
        except PatternError as error:
            builder.unenforced[pattern.path] = str(error)
            continue
        language = e.complement(language) if excluded else language
        constraints.append(Constraint((pattern.path,), language, language))
    if declared:
        undeclared = e.complement(_beginnings(e, declared))
        keywords = ("additionalProperties", "patternProperties", "propertyNames", "properties", "required")
        path = next(part.path for keyword in keywords for part in schema.all(keyword))
        constraints.append(Constraint((path,), undeclared, undeclared))
    return sequence(QUOTE, builder.strings.texts(constraints))


def _named(names: tuple[Subschema, ...], builder: Builder) -> Iterator[Constraint]:
    """Yields what `propertyNames` requires."""
    e = builder.strings.expressions
    conjunction = builder.conjunction(names)
    if (listed := builder.listed(names)) is not None:
        language = e.choice(*(e.text(name) for name in listed if isinstance(name, str)))
        yield Constraint((names[0].path,), language, language)
        return
    yield from builder.strings.constraints(conjunction)
    for part in conjunction.parts:
        for keyword in part.schema:
            if keyword in ("anyOf", "oneOf") or keyword in UNENFORCED:
                builder.unenforced[part.at(keyword).path] = "it can't be enforced on names beside properties"


def _beginnings(e: Expressions, names: Iterable[str]) -> Expression:
    """Returns the names, and those that begin like one where telling them apart would cost too much."""
    prefixes = json_text.prefixes(names, json_text.MOST_PREFIXES)
    texts = []
    for name in names:
        length = next((end for end in range(1, len(name) + 1) if name[:end] not in prefixes), None)
        texts.append(e.text(name) if length is None else e.sequence(e.text(name[:length]), e.anything))
    return e.choice(*texts)
