"""Conversion of a JSON Schema into a grammar. All texts of the grammar satisfy the schema, except for the reported
keywords. The grammar may allow less than the schema: properties are in the schema's order; an object with `properties`
has no others unless `additionalProperties` allows them; a schema without `type` whose keywords apply to one type means
that type.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import combinations, islice
from typing import Any

import jsonschema_rs

from specvino.engine.grammar._ebnf.finite_texts import prune
from specvino.engine.grammar._ebnf.nodes import EMPTY, Grammar, Node, Rule, choice
from specvino.engine.grammar._ebnf.size import (
    least_length,
    open_places,
    require_few_rules,
    require_short,
    require_small,
)
from specvino.engine.grammar._errors import GrammarError, Path, Unsatisfiable
from specvino.engine.grammar._from_schema import json_text
from specvino.engine.grammar._from_schema.arrays import array
from specvino.engine.grammar._from_schema.disjoint import disjoint
from specvino.engine.grammar._from_schema.keywords import IMPLIED_TYPE, LARK, UNENFORCED
from specvino.engine.grammar._from_schema.numbers import number
from specvino.engine.grammar._from_schema.objects import object_
from specvino.engine.grammar._from_schema.strings import JSON, Languages, Strings, StringStyle
from specvino.engine.grammar._json_schema import JSON_TYPES, Conjunction, Subschema, flatten, named_by_all, reference_to

MOST_PARTS = 2000
MOST_DEPTH = 64
MOST_VALUES = 4000  # of all enumerations together

_DRAFT_7 = "http://json-schema.org/draft-07/schema#"
_DRAFT = re.compile(r"https?://json-schema\.org/(draft-0[467]|draft/20(19-09|20-12))/schema#?")


@dataclass(slots=True)
class Findings:
    """The report of a conversion. `unenforced` has the paths of the keywords that the grammar doesn't enforce, with the
    reasons, and `annotations` those of formats that aren't enforced beside a pattern or listed values, which say more.
    `positions` has the number of positions where most tokens fit, by the path of the part.
    """

    unenforced: dict[Path, str] = field(default_factory=dict)
    annotations: set[Path] = field(default_factory=set)
    positions: dict[Path, int] = field(default_factory=dict)


def convert(schema: Any, style: StringStyle = JSON) -> tuple[Grammar, Findings]:
    """Returns the grammar of a schema, and its findings. With a style other than JSON's, the schema must admit strings
    only. Raises GrammarError for a schema that is invalid, unsatisfiable, or too large.
    """
    grammar, findings = Grammar({"root": EMPTY}), Findings()
    grammar.rules["root"] = add(schema, grammar, findings, Languages(), style)
    if not prune(grammar):
        raise GrammarError((), "nothing can satisfy it: infinite recursion, no finite value is valid")
    require_small(grammar, findings.positions)
    return grammar, findings


def add(schema: Any, grammar: Grammar, findings: Findings, languages: Languages, style: StringStyle = JSON) -> Rule:
    """Adds a schema to a grammar that may have others, and returns its rule. All schemas of the grammar have the same
    `languages`. Raises GrammarError like `convert`, but not for a schema that requires itself recursively (its rule has
    no finite text), nor for one that is too large.
    """
    schema = _of_known_draft(schema)
    _require_valid(schema)
    try:
        return _Converter(schema, grammar, findings, languages, style).rule((Subschema(schema, ()),))
    except Unsatisfiable as error:
        raise GrammarError(error.path, f"nothing can satisfy it: {error}") from None
    except RecursionError:
        raise GrammarError((), "it is nested too deeply") from None


def _of_known_draft(schema: Any) -> Any:
    """Returns the schema without a `$schema` other than JSON Schema's own, which jsonschema-rs would fetch. A schema
    without one whose `items` is a list is of draft 7: TypeBox 1 writes such tuples.
    """
    if not isinstance(schema, dict) or _DRAFT.fullmatch(str(schema.get("$schema"))):
        return schema
    own = {key: value for key, value in schema.items() if key != "$schema"}
    return {"$schema": _DRAFT_7, **own} if not _is_valid(own) and _is_valid({"$schema": _DRAFT_7, **own}) else own


def _is_valid(schema: Any) -> bool:
    with suppress(ValueError, RecursionError):
        return bool(jsonschema_rs.meta.is_valid(schema))
    return False


def _require_valid(schema: Any) -> None:
    try:
        jsonschema_rs.meta.validate(schema)
    except jsonschema_rs.ValidationError as error:
        raise GrammarError(tuple(error.instance_path), f"it is not a valid JSON Schema: {_brief(error)}") from None
    except (ValueError, RecursionError):
        raise GrammarError((), "it is not a valid JSON Schema, or is nested too deeply") from None


def _brief(error: jsonschema_rs.ValidationError) -> str:
    message = error.message
    return message if len(message) <= 200 else f"{message[:197]}..."


class _Converter:
    """The `Builder` of arrays and objects."""

    def __init__(
        self, schema: Any, grammar: Grammar, findings: Findings, languages: Languages, style: StringStyle
    ) -> None:
        self.grammar = grammar
        self.unenforced = findings.unenforced
        self._annotations = findings.annotations
        self._positions = findings.positions
        self._style = style
        self.strings = Strings(grammar, languages, findings.unenforced, findings.annotations, style)
        self._root: Mapping[str, Any] = schema if isinstance(schema, dict) else {}
        self._rules: dict[Any, Rule] = {}
        self._depth = 0
        self._values = 0
        self._length = 0
        self._registry: jsonschema_rs.Registry | None = None

    def rule(self, parts: tuple[Subschema, ...]) -> Rule:
        """Returns the rule for values that satisfy all these schemas. Raises Unsatisfiable and GrammarError."""
        schema = flatten(self._root, parts)
        return self._rule(schema)

    def conjunction(self, parts: tuple[Subschema, ...]) -> Conjunction:
        """Returns the schemas without references. Raises Unsatisfiable and GrammarError."""
        return flatten(self._root, parts)

    def listed(self, parts: tuple[Subschema, ...]) -> list[Any] | None:
        """Returns the values that satisfy all these schemas, if one lists them or admits only booleans and null; None
        otherwise. Raises Unsatisfiable and GrammarError."""
        return self._listed(self.conjunction(parts))

    def _listed(self, schema: Conjunction) -> list[Any] | None:
        if any(keyword in part.schema for part in schema.parts for keyword in UNENFORCED):
            return None
        if schema.first("enum") or schema.first("const"):
            return self._fitting(schema)[1]
        if union := schema.first("anyOf") or schema.first("oneOf"):
            branches = [self.listed((union.at(index),)) for index in range(len(union.schema))]
            values = [value for branch in branches for value in branch or ()]
            return None if None in branches else list(filter(self.test(schema.parts), values))
        types = _types(schema)
        if types is None or not {"boolean", "null"}.issuperset(types):
            return None
        values = [True, False] * ("boolean" in types) + [None] * ("null" in types)
        return list(filter(self.test(schema.parts), values))

    def _rule(self, schema: Conjunction) -> Rule:
        known = self._rules.get(schema.key)
        if known:
            return known
        path = schema.parts[0].path if schema.parts else ()
        if len(self._rules) > MOST_PARTS:
            raise GrammarError(path, f"it has more than {MOST_PARTS} parts")
        require_few_rules(self.grammar, path)
        if self._depth > MOST_DEPTH:
            raise GrammarError(path, f"the schema is nested more than {MOST_DEPTH} levels deep")
        # Added before its node is created, since a schema may refer to itself.
        rule = self._rules[schema.key] = self.grammar.add("schema", Rule("schema"))
        self._depth += 1
        try:
            node = self.grammar.rules[rule.name] = self._node(schema)
        except Unsatisfiable:
            del self._rules[schema.key]
            self.grammar.rules[rule.name] = rule  # it has no finite text
            raise
        finally:
            self._depth -= 1
        self._length += least_length(node)
        require_short(self._length, path)
        return rule

    def _node(self, schema: Conjunction) -> Node:
        if schema.first("enum") or schema.first("const"):
            return self._constants(schema)
        for keyword in ("anyOf", "oneOf"):
            if union := schema.first(keyword):
                return self._union(schema, union)
        types = _types(schema)
        self._note(schema, types)
        if types is None:
            return json_text.any_value(self.grammar)
        if not types:
            raise Unsatisfiable(schema.parts[0].path, "no type of value is left")
        nodes = []
        impossible: Unsatisfiable | None = None
        for kind in types:
            try:
                nodes.append(self._typed(schema, kind))
            except Unsatisfiable as error:
                impossible = error
        if not nodes:
            assert impossible is not None
            raise impossible
        return choice(*nodes)

    def _typed(self, schema: Conjunction, kind: str) -> Node:
        match kind:
            case "object":
                return object_(schema, self)
            case "array":
                return array(schema, self)
            case "string":
                known = len(self.grammar.rules)
                node = self.strings.node(schema)
                self._positions[schema.parts[0].path] = open_places(self._measured(known))
                return node
            case "number" | "integer":
                known = len(self.grammar.rules)
                node = number(schema, kind, self.grammar, self.strings.expressions, self.unenforced)
                self._measured(known)
                return node
            case "boolean":
                return choice(json_text.literal(True), json_text.literal(False))
        return json_text.literal(None)

    def _measured(self, known: int) -> list[Node]:
        """Returns the rules after the first `known` ones, and counts their characters."""
        added = list(islice(self.grammar.rules.values(), known, None))
        self._length += sum(map(least_length, added))
        return added

    def _constants(self, schema: Conjunction) -> Node:
        """Returns the listed values that satisfy the whole schema. They are validated, so all keywords are enforced."""
        for notation in schema.all(LARK):
            self.unenforced[notation.path] = "it can't be enforced together with listed values"
        listed, fitting = self._fitting(schema)
        if not fitting:
            raise Unsatisfiable(listed.path, "none of the listed values satisfies the rest of the schema")
        return choice(*(self._style.literal(value) for value in fitting))

    def _fitting(self, schema: Conjunction) -> tuple[Subschema, list[Any]]:
        """Returns the keyword that lists values, and those that satisfy the whole schema."""
        self._annotations.update(path for part in schema.parts for path in _formats(part))
        listed = schema.first("const") or min(schema.all("enum"), key=lambda enum: len(enum.schema))
        values = [listed.schema] if listed.path[-1] == "const" else listed.schema
        self._values += len(values)
        if self._values > MOST_VALUES:
            raise GrammarError(listed.path, f"the schema lists more than {MOST_VALUES} values")
        return listed, list(filter(self.test(schema.parts), values))

    def test(self, parts: tuple[Subschema, ...]) -> Callable[[Any], bool]:
        """Returns a function that validates a value by all of these schemas. Raises GrammarError."""
        combined = {"allOf": [{"$ref": "urn:root" + reference_to(part.path)} for part in parts]}
        try:
            if self._registry is None:
                root = {key: value for key, value in self._root.items() if key != "$id"}
                # References out of the schema are never fetched.
                self._registry = jsonschema_rs.Registry([("urn:root", root)], retriever=lambda _: True)
            return jsonschema_rs.validator_for(combined, registry=self._registry).is_valid
        except (ValueError, jsonschema_rs.ReferencingError):
            raise GrammarError(parts[0].path, "a reference in it leads nowhere") from None

    def _union(self, schema: Conjunction, union: Subschema) -> Node:
        keyword = str(union.path[-1])
        owner = union.path[:-1]
        base = tuple(part.without(keyword) if part.path == owner else part for part in schema.parts)
        branches = [union.at(index) for index in range(len(union.schema))]
        if keyword == "oneOf" and not self._disjoint(branches):
            branches = _without_common_null(branches)
            if not self._disjoint(branches):
                self.unenforced[union.path] = "a value may satisfy several of its schemas"
        nodes = []
        impossible: Unsatisfiable | None = None
        for branch in branches:
            try:
                nodes.append(self.rule((*base, branch)))
            except Unsatisfiable as error:
                impossible = error
        if not nodes:
            assert impossible is not None
            raise impossible
        return choice(*nodes)

    def _disjoint(self, branches: list[Subschema]) -> bool:
        return all(disjoint(self._root, a, b) for a, b in combinations(branches, 2))

    def _note(self, schema: Conjunction, types: list[str] | None) -> None:
        for keyword, kind in UNENFORCED.items():
            for part in schema.all(keyword):
                if (kind is None or types is None or kind in types) and _constrains(keyword, part, schema):
                    self.unenforced[part.path] = "a grammar can't express it"


def _types(schema: Conjunction) -> list[str] | None:
    """Returns the types that a value may have; None if no keyword states or implies one."""
    named = schema.values("type")
    types = {kind for part in schema.parts for keyword in part.schema if (kind := IMPLIED_TYPE.get(keyword))}
    if not named and not types:
        return None
    if named:
        types = named_by_all(named)
    if "number" in types:
        types.discard("integer")
    return [kind for kind in JSON_TYPES if kind in types]


def _formats(part: Subschema) -> Iterator[Path]:
    """Yields the paths of the formats that concern the value itself."""
    if isinstance(part.schema, dict):
        if "format" in part.schema:
            yield part.at("format").path
        for keyword in ("allOf", "anyOf", "oneOf"):
            for index in range(len(part.schema.get(keyword, ()))):
                yield from _formats(part.at(keyword, index))


def _without_common_null(branches: list[Subschema]) -> list[Subschema]:
    """Returns the schemas of `oneOf` without null where several have it among their types: then it satisfies none."""
    nullable = [branch for branch in branches if isinstance(branch.schema, dict) and _lists_null(branch.schema)]
    if len(nullable) < 2:
        return branches
    return [
        Subschema({**branch.schema, "type": [kind for kind in branch.schema["type"] if kind != "null"]}, branch.path)
        if branch in nullable
        else branch
        for branch in branches
    ]


def _lists_null(schema: Mapping[str, Any]) -> bool:
    listed = "enum" in schema or "const" in schema  # then values are validated by the whole schema
    return isinstance(schema.get("type"), list) and "null" in schema["type"] and not listed


def _constrains(keyword: str, part: Subschema, schema: Conjunction) -> bool:
    """Returns whether a keyword, whose value is `part`, excludes any value."""
    match keyword:
        case "dependencies":
            return not all(isinstance(names, list) for names in part.schema.values())
        case "then" | "else":
            return any("if" in other.schema for other in schema.parts) and part.schema is not True
        case "not":
            return True
    return part.schema not in (True, {}, [])
