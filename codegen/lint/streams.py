"""The x-stream tables: a closed vocabulary, about facts that exist."""

from collections.abc import Iterator
from typing import Any

from specvino.codegen.fields import stream_event
from specvino.codegen.lint.problem import Problem
from specvino.codegen.schemas import Schema, deref, operations
from specvino.codegen.spec import Spec

TABLE = {"terminator", "classify", "machines", "laws"}
RULE = {"fact", "at", "each", "key"}
MACHINE = {"in", "key", "open", "body", "close", "end"}

# What each law needs beside its name.
LAWS: dict[str, set[str]] = {
    "keys dense": set(),
    "children close first": set(),
    "constant": {"fields"},
    "one fact": {"of"},
}


def tables(spec: Spec) -> Iterator[Problem]:
    """Every stream has a table that holds together."""
    for path, method, _, operation in operations(spec.document):
        place = f"{method.upper()} {path} x-stream"
        media = operation["responses"].get("200", {}).get("content", {}).get("text/event-stream")
        table = operation.get("x-stream")
        if (media is None) != (table is None):
            yield Problem("x-stream", place, "an operation has a text/event-stream answer and x-stream, or neither")
        elif media is not None and table is not None:
            for what in _faults(spec.document, media, table):
                yield Problem("x-stream", place, what)


def examples(spec: Spec) -> Iterator[Problem]:
    """The examples of an event show every fact that a stream can state."""
    document = spec.document
    for path, method, _, operation in operations(document):
        if "x-stream" not in operation:
            continue
        media = operation["responses"]["200"]["content"]["text/event-stream"]
        shown = deref(document, stream_event(document, media)).get("examples", [])
        for rule in operation["x-stream"]["classify"]:
            if not any(_states(event, rule) for event in shown):
                yield Problem(
                    "examples", f"{method.upper()} {path} stream", f"no example states the fact {rule['fact']!r}"
                )


def _faults(document: dict[str, Any], media: dict[str, Any], table: dict[str, Any]) -> Iterator[str]:
    if table.keys() != TABLE:
        yield f"the keys are {', '.join(sorted(table))}, but must be {', '.join(sorted(TABLE))}"
        return
    data = deref(document, media["itemSchema"])["properties"]["data"]
    if table["terminator"] not in [branch.get("const") for branch in data.get("anyOf", [data])]:
        yield f"the terminator {table['terminator']!r} is not a const of the event's data"
    event = stream_event(document, media)
    yield from _classify(document, event, table["classify"])
    yield from _machines(table["machines"], [rule.get("fact") for rule in table["classify"]])
    yield from _laws(document, event, table)


def _classify(document: dict[str, Any], event: Schema, rules: list[dict[str, Any]]) -> Iterator[str]:
    for rule in rules:
        fact = rule.get("fact")
        if rule.keys() - RULE or not {"fact", "at"} <= rule.keys() or ("each" in rule) != ("key" in rule):
            yield f"classify {fact}: a rule has fact and at, may have each with key, and nothing else"
            continue
        prefix = f"{rule['each']}[]." if "each" in rule else ""
        for path in (prefix + rule["at"], *([prefix + rule["key"]] if prefix else [])):
            if not _exists(document, event, path):
                yield f"classify {fact}: the event has no {path}"
    facts = [rule.get("fact") for rule in rules]
    for fact in sorted({str(fact) for fact in facts if facts.count(fact) > 1}):
        yield f"classify {fact}: the fact stands twice"


def _machines(machines: dict[str, dict[str, Any]], facts: list[Any]) -> Iterator[str]:
    if sum("in" not in machine for machine in machines.values()) != 1:
        yield "there must be one outermost machine, without `in`"
    used = set()
    for name, machine in machines.items():
        for key in sorted(machine.keys() - MACHINE):
            yield f"machine {name}: {key!r} is not one of {', '.join(sorted(MACHINE))}"
        if "in" in machine and machine["in"] not in machines:
            yield f"machine {name}: there is no machine {machine['in']!r} to be in"
        if "in" in machine and not {"key", "open", "close"} <= machine.keys():
            yield f"machine {name}: a machine inside another has key, open and close"
        if "in" not in machine and not machine.get("end"):
            yield f"machine {name}: the outermost machine has end"
        stated = [machine.get("open"), machine.get("close"), *machine.get("body", ()), *machine.get("end", ())]
        used |= {fact for fact in stated if fact is not None}
    for fact in sorted(used - set(facts)):
        yield f"no rule classifies the fact {fact!r}"
    for fact in sorted(set(facts) - used):
        yield f"no machine has the fact {fact!r}"


def _laws(document: dict[str, Any], event: Schema, table: dict[str, Any]) -> Iterator[str]:
    for law in table["laws"]:
        entry = {"law": law} if isinstance(law, str) else law
        name = entry.get("law")
        if name not in LAWS:
            yield f"there is no law {name!r}; known are {', '.join(LAWS)}"
            continue
        if entry.keys() - {"law"} != LAWS[name]:
            yield f"law {name}: it needs {', '.join(LAWS[name]) or 'no more than its name'}"
        if "of" in entry and entry["of"] not in table["machines"]:
            yield f"law {name}: there is no machine {entry['of']!r}"
        for path in entry.get("fields", ()):
            if not _exists(document, event, path):
                yield f"law {name}: the event has no {path}"


def _exists(document: dict[str, Any], schema: Schema, path: str) -> bool:
    """Whether some value of the schema can have something at a path such as `choices[].delta.role`."""
    schema = deref(document, schema)
    if any(_exists(document, branch, path) for keyword in ("anyOf", "oneOf") for branch in schema.get(keyword, ())):
        return True
    if path.startswith("[]"):
        return "items" in schema and (path == "[]" or _exists(document, schema["items"], path[2:].lstrip(".")))
    name, _, rest = path.partition(".")
    name, elements, _ = name.partition("[]")
    child = schema.get("properties", {}).get(name)
    if child is None:
        return False
    rest = "[]." + rest if elements and rest else rest or elements
    return not rest or _exists(document, child, rest)


def _states(event: Any, rule: dict[str, Any]) -> bool:
    places = [event] if "each" not in rule else (event.get(rule["each"]) or [])
    for place in places:
        for step in rule["at"].split("."):
            place = place.get(step) if isinstance(place, dict) else None
        if place is not None:
            return True
    return False
