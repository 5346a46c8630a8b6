"""openapi/conditions.yaml -> rules of schemas, x-refusals, and the table that servers check."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from specvino.codegen.source import SpecError
from specvino.document.conditions import complement, fields_of, shown
from specvino.document.operations import by_endpoint
from specvino.document.pointers import resolved
from specvino.document.validator import Validators

Object = dict[str, Any]


def check(document: Object, source: Object, vocabulary: Object) -> None:
    """Raises SpecError for conditions that can't be read: with the wrong shape, an unknown endpoint or group."""
    for violation in Validators(vocabulary).at("/$defs/Conditions").violations(source):
        raise SpecError(f"conditions.yaml: {violation}")
    operations = by_endpoint(document)
    for name, condition in source["conditions"].items():
        for endpoint in (*condition["endpoints"], *condition.get("schema", ())):
            if endpoint not in operations or operations[endpoint].body is None:
                raise SpecError(f"conditions.yaml: {name}: {endpoint!r} is not an endpoint with a body")
        for fields in groups_of(condition):
            if isinstance(fields, str) and fields not in source["groups"]:
                raise SpecError(f"conditions.yaml: {name}: the group {fields!r} is not defined")


def groups_of(condition: Object) -> Iterator[Any]:
    """Yields the groups of a condition: names, or fields with their schemas, or lists of fields."""
    yield from condition.get("both", ())
    exceeds = condition.get("exceeds", {})
    for key, holder in (("requires", condition), ("more_than_one", condition), ("fields", exceeds), ("than", exceeds)):
        if key in holder:
            yield holder[key]
    yield from ([path] for path in condition.get("members", ()))


def add_conditions(document: Object, source: Object) -> None:
    """Adds the conditions to the endpoints' schemas and x-refusals."""
    operations = by_endpoint(document)
    for condition in source["conditions"].values():
        for endpoint in condition["endpoints"]:
            if endpoint in condition.get("schema", ()):
                body = resolved(document, operations[endpoint].body)
                body.setdefault("allOf", []).append(_rule(condition, source["groups"]))
    for endpoint, entries in tables(document, source)["endpoints"].items():
        definition = operations[endpoint].definition
        refusals = [
            {"code": entry["code"], "when": _when(source["conditions"][name], entry), "condition": name}
            for name, entry in entries.items()
        ]
        definition["x-refusals"] = refusals + definition.get("x-refusals", [])


def tables(document: Object, source: Object) -> Object:
    """Returns generated/conditions.json: the facts, the groups, and for each endpoint the conditions that its schema
    doesn't state, with only the fields that its body has."""
    operations = by_endpoint(document)
    endpoints: dict[str, Object] = {}
    for name, condition in source["conditions"].items():
        for endpoint in condition["endpoints"]:
            if endpoint not in condition.get("schema", ()):
                body = operations[endpoint].body
                entry = {key: condition[key] for key in condition if key not in ("endpoints", "schema", "when")}
                entry = {"code": "invalid_value", **entry, **_expanded(entry, document, body, source["groups"])}
                if "schema" in condition:
                    entry["like_schema"] = True
                endpoints.setdefault(endpoint, {})[name] = entry
    return {"facts": source["facts"], "groups": source["groups"], "endpoints": endpoints}


def _expanded(entry: Object, document: Object, body: Any, groups: Object) -> Object:
    """Returns the operators of a condition with groups written out."""

    def having(paths: Any) -> Any:
        paths = groups[paths] if isinstance(paths, str) else paths
        kept = [path for path in paths if has_field(document, body, path, supported=True)]
        return {path: paths[path] for path in kept} if isinstance(paths, Mapping) else kept

    expanded: Object = {}
    if "both" in entry:
        expanded["both"] = [having(fields) for fields in entry["both"]]
    if "more_than_one" in entry:
        expanded["more_than_one"] = having(entry["more_than_one"])
    if exceeds := entry.get("exceeds"):
        expanded["exceeds"] = {key: list(having(paths)) if key != "fact" else paths for key, paths in exceeds.items()}
    return expanded


def has_field(document: Object, schema: Any, path: str, *, supported: bool = False) -> bool:
    """Returns whether a body, or a branch of a union in it, has a field at a dotted path, or is a free-form map.
    `supported` excludes fields that this server doesn't support, whose supported values have no effect.
    """
    name, _, rest = path.partition(".")
    for branch in _branches(document, schema):
        if name in branch.get("properties", {}):
            field = branch["properties"][name]
            if supported and field.get("x-handling") == "unsupported":
                continue
            if not rest or has_field(document, field, rest, supported=supported):
                return True
        elif "properties" not in branch and branch.get("additionalProperties"):
            return True
    return False


def _branches(document: Object, schema: Any) -> Iterator[Object]:
    schema = resolved(document, schema)
    yield schema
    for keyword in ("allOf", "anyOf", "oneOf"):
        for branch in schema.get(keyword, ()):
            yield from _branches(document, branch)


def _rule(condition: Object, groups: Object) -> Object:
    """Returns the condition as a rule of a schema: if the first group holds, then the others don't."""
    first, *others = [groups[fields] if isinstance(fields, str) else fields for fields in condition["both"]]
    ((path, schema),) = first.items()
    properties: Object = {}
    for fields in others:
        properties |= {name: complement(forbidden) for name, forbidden in fields.items()}
    required = condition.get("requires", {})
    then: Object = {"required": list(required)} if required else {}
    return {
        "x-error": {"param": condition.get("param", path), "message": condition["message"]},
        "if": {"required": [path], "properties": {path: schema}},
        "then": {**then, "properties": {**properties, **required}},
    }


def _when(condition: Object, entry: Object) -> str:
    """Returns the sentence for readers: `when`, or the message, with the fields in place of placeholders."""
    sentence = condition.get("when") or condition["message"]
    groups = [*entry.get("both", ()), *([entry["more_than_one"]] if "more_than_one" in entry else ())]
    for path, members in entry.get("members", {}).items():
        groups = [[path], members]
    if "exceeds" in entry:
        groups = [entry["exceeds"]["fields"], entry["exceeds"].get("than", ())]
    names = [_listed(fields) for fields in groups if fields]
    for placeholder, fields in zip(("{field}", "{other}"), names, strict=False):
        sentence = sentence.replace(placeholder, fields)
    words = "|".join(map(re.escape, (*fields_of(entry), *entry.get("requires", ()))))
    return re.sub(rf"(?<![`\w.-])({words}|--[a-z][a-z-]+( none)?)(?![`\w])", r"`\1`", sentence)


def _listed(fields: Any) -> str:
    names = [f"`{name}`" for name in dict.fromkeys(map(shown, fields))]
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " or " + names[-1]
