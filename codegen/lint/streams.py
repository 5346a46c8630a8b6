"""The x-stream tables: a closed vocabulary, about facts that exist."""

from collections.abc import Iterator
from typing import Any

from specvino.codegen.lint import stream_machines
from specvino.codegen.lint.problem import Problem
from specvino.codegen.lint.stream_events import Events
from specvino.codegen.lint.stream_laws import laws
from specvino.codegen.lint.stream_words import entry, words
from specvino.codegen.spec import Spec
from specvino.document.operations import EVENTS, operations
from specvino.document.pointers import resolved


def tables(spec: Spec) -> Iterator[Problem]:
    """Every stream has a table that holds together."""
    for operation in operations(spec.document):
        place = f"{operation.place} x-stream"
        media = operation.content().get(EVENTS)
        table = operation.definition.get("x-stream")
        if (media is None) != (table is None):
            yield Problem("x-stream", place, "an operation has a text/event-stream answer and x-stream, or neither")
        elif media is not None and table is not None:
            for what in list(words(spec.vocabulary, table)) or _faults(spec.document, media, table):
                yield Problem("x-stream", place, what)


def examples(spec: Spec) -> Iterator[Problem]:
    """The examples of an event show every fact that a stream can state."""
    for operation in operations(spec.document):
        if "x-stream" not in operation.definition:
            continue
        classify = operation.definition["x-stream"]["classify"]
        events = Events(spec.document, operation.content()[EVENTS], classify)
        shown = {fact for event in events.examples() for fact in _stated(event, classify)}
        for fact in sorted(events.by_fact.keys() - shown):
            yield Problem("examples", f"{operation.place} stream", f"no example states the fact {fact!r}")


def _faults(document: dict[str, Any], media: dict[str, Any], table: dict[str, Any]) -> Iterator[str]:
    classify, machines = table["classify"], table["machines"]
    events = Events(document, media, classify)
    if "silent" in table:
        yield "silent: only the document of a system has it"
    for name, machine in machines.items():
        if not machine.keys() & {"in", "end"}:
            yield f"machine {name}: only in the document of a system it may be without `end`"
    yield from _framing(resolved(document, media["itemSchema"]), table)
    if isinstance(classify, str):
        if events.nameless:
            yield f"classify: {events.nameless} branches of the event have no const {classify}"
    else:
        yield from _rules(events, classify)
    nesting = list(stream_machines.nesting(machines))
    yield from nesting
    wrong = nesting or list(stream_machines.uses(machines, events))
    yield from wrong if not nesting else ()
    if not wrong:
        yield from stream_machines.keys(machines, events, classify)
        yield from laws([entry(law) for law in table["laws"]], machines, events, isinstance(classify, str))


def _framing(item: dict[str, Any], table: dict[str, Any]) -> Iterator[str]:
    named = table["framing"] == "event"
    if named and not isinstance(table["classify"], str):
        yield "framing event: the name of an event is the field `classify`, which must be one"
    if named != ("event" in item["properties"]) or (named and "event" not in item.get("required", ())):
        yield f"framing {table['framing']}: a server-sent event must {'require' if named else 'not have'} `event`"
    data = item["properties"]["data"]
    consts = [branch["const"] for branch in data.get("anyOf", [data]) if "const" in branch]
    if consts != ([] if table["terminator"] is None else [table["terminator"]]):
        yield f"the terminator is {table['terminator']!r}, but the consts of the event's data are {consts}"


def _rules(events: Events, rules: list[dict[str, Any]]) -> Iterator[str]:
    facts = [rule["fact"] for rule in rules]
    for fact in sorted({fact for fact in facts if facts.count(fact) > 1}):
        yield f"classify {fact}: the fact stands twice"
    for rule in rules:
        prefix = f"{rule['each']}[]." if "each" in rule else ""
        for path in [prefix + path for path in (*rule["at"], *([rule["key"]] if prefix else []))]:
            if not events.has(path):
                yield f"classify {rule['fact']}: the event has no {path}"


def _stated(event: Any, classify: str | list[dict[str, Any]]) -> Iterator[str]:
    """Yields the facts that an example states."""
    if isinstance(classify, str):
        yield event.get(classify)
        return
    for rule in classify:
        for place in [event] if "each" not in rule else (event.get(rule["each"]) or []):
            if any(_at(place, path) not in (None, "") for path in rule["at"]):
                yield rule["fact"]


def _at(place: Any, path: str) -> Any:
    for step in path.split("."):
        place = place.get(step) if isinstance(place, dict) else None
    return place
