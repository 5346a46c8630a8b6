"""Adapts streams to a system: the framing of events, the end, and the parts of x-stream that hold."""

from collections.abc import Iterator
from typing import Any

from specvino.document.operations import Schema, operations
from specvino.document.pointers import referred, resolved

ERRORS = [{"$ref": f"#/components/schemas/{name}"} for name in ("ErrorResponse", "OllamaErrorResponse")]


def adapt_streams(document: dict[str, Any], dialect: dict[str, Any]) -> None:
    """Changes the schemas of events and x-stream in place.

    For each endpoint's stream a dialect gives `framing` (data, event for an additional `event:` line, or lines),
    `terminator` (the text that ends it, or null), `error` (event, or none where a failure isn't sent as an event),
    `first` (the first sequence number), `order` (how the system's streams differ from our table) and `breaks` (the
    parts of the table that don't hold). With `order` but without `breaks` the table doesn't hold at all. In a table by
    types, facts that no event of the system states are removed.
    """
    for operation in operations(document):
        stream = dialect["stream"].get(operation.endpoint)
        if stream and operation.stream:
            _adapt(document, operation.definition, operation.stream, stream)


def _adapt(document: dict[str, Any], operation: dict[str, Any], media: dict[str, Any], stream: dict[str, Any]) -> None:
    if stream["framing"] == "lines":
        event = media["itemSchema"]
        if stream["error"] == "none":
            event = media["itemSchema"] = _without_error(document, event)
    else:
        item = resolved(document, media["itemSchema"])
        data = item["properties"]["data"]
        text: Schema = next(dict(branch) for branch in data.get("anyOf", [data]) if "contentSchema" in branch)
        if stream["error"] == "none":
            text["contentSchema"] = _without_error(document, text["contentSchema"])
        _frame(item, text, stream)
        event = text["contentSchema"]
    if "order" in stream and "breaks" not in stream:
        operation.pop("x-stream", None)
    elif "x-stream" in operation:
        table = operation["x-stream"]
        _adapt_table(table, stream)
        if isinstance(table["classify"], str):
            _keep_stated(table, set(_facts(document, event, table["classify"])))


def _switch_off(table: dict[str, Any], word: str) -> None:
    """Removes what one word of `breaks` names from the table, in place.

    A machine that needs no fact to open or end has that fact in its body instead; a law, or one of the fields that it
    keeps constant, is removed.
    """
    subject, _, detail = word.partition(".")
    if word == "no silent event":
        table["silent"] = True
    elif subject in table["machines"]:
        machine = table["machines"][subject]
        facts = machine.pop(detail)
        machine["body"] = [*([facts] if isinstance(facts, str) else facts), *machine.get("body", ())]
    elif detail:
        law = next(entry for entry in table["laws"] if isinstance(entry, dict) and entry["law"] == subject)
        law["fields"] = [field for field in law["fields"] if field != detail]
    else:
        table["laws"] = [law for law in table["laws"] if subject != (law if isinstance(law, str) else law["law"])]


def _frame(item: Schema, text: Schema, stream: dict[str, Any]) -> None:
    end = stream["terminator"]
    item["description"] = "One event of the stream" + (f"; the last one is {end}." if end else ".")
    item["required"] = ["data"]
    item["properties"] = {}
    if stream["framing"] == "event":
        item["required"] = ["event", "data"]
        item["properties"]["event"] = {
            "type": "string",
            "minLength": 1,
            "description": "The event's type, as in its data.",
        }
    if end:
        text.pop("description", None)
        text.setdefault("title", f"{item.get('title', '').removesuffix('ServerSentEvent')}EventJson")
        described = "One event as JSON, or the text that ends the stream."
        item["properties"]["data"] = {"description": described, "anyOf": [{"const": end}, text]}
    else:
        text.pop("title", None)
        item["properties"]["data"] = text | {"description": "The event as JSON."}


def _without_error(document: dict[str, Any], schema: Schema) -> Schema:
    """Returns the schema of an event that is never an error."""
    event = referred(document, schema["$ref"])  # one step: it may be just an alias with examples
    if "anyOf" not in event and "$ref" not in event:
        return schema
    # A union that lost its error with the schema of errors is an alias for the rest.
    branches: list[Schema] = event.get("anyOf", [{"$ref": event.get("$ref")}])
    kept = [branch for branch in branches if branch not in ERRORS]
    if len(kept) > 1:
        event["anyOf"] = kept
        return schema
    if "examples" in event:
        resolved(document, kept[0]).setdefault("examples", event["examples"])
    return kept[0]


def _adapt_table(table: dict[str, Any], stream: dict[str, Any]) -> None:
    table["framing"], table["terminator"] = stream["framing"], stream["terminator"]
    for word in stream.get("breaks", ()):
        _switch_off(table, word)
    for law in table["laws"]:
        if isinstance(law, dict) and law["law"] == "consecutive" and "first" in stream:
            law["from"] = stream["first"]
    if stream["error"] == "none" and isinstance(table["classify"], list):
        table["classify"] = [rule for rule in table["classify"] if rule["fact"] != "error"]
        for machine in table["machines"].values():
            if fail := [fact for fact in machine.pop("fail", ()) if fact != "error"]:
                machine["fail"] = fail


def _facts(document: dict[str, Any], schema: Schema, field: str) -> Iterator[str]:
    """Yields the facts that events of a union state, each by a field that is a constant."""
    schema = resolved(document, schema)
    if "const" in (stated := schema.get("properties", {}).get(field, {})):
        yield stated["const"]
    for branch in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        yield from _facts(document, branch, field)


def _keep_stated(table: dict[str, Any], facts: set[str]) -> None:
    """Removes facts that no event of the system states, and machines that no fact opens, from a table in place.

    The remaining facts of such a machine move to the machine around it: deltas of a text that comes without parts, for
    example.
    """
    machines = table["machines"]
    for machine in machines.values():
        for part in {"body", "end", "fail", "abort"} & machine.keys():
            machine[part] = [fact for fact in machine[part] if fact in facts]
            if not machine[part]:
                del machine[part]
    while gone := [name for name, machine in machines.items() if _is_never_opened(machine, machines, facts)]:
        for name in gone:
            _dissolve(machines, name)
    for law in table["laws"]:
        if isinstance(law, dict) and "texts" in law:
            law["texts"] = [text for text in law["texts"] if text["delta"] in facts]
    table["laws"] = [
        law
        for law in table["laws"]
        if isinstance(law, str) or (law.get("of") in (None, *machines) and law.get("texts", True))
    ]


def _dissolve(machines: dict[str, Any], name: str) -> None:
    """Removes a machine from a table, in place. Its remaining facts move to the machine around it."""
    machine = machines.pop(name)
    if machine["in"] in machines and (left := machine.get("body")):
        around = machines[machine["in"]]
        around["body"] = [*around.get("body", ()), *left]


def _is_never_opened(machine: dict[str, Any], machines: dict[str, Any], facts: set[str]) -> bool:
    if "in" not in machine:
        return False
    opening = [machine["open"]] if "open" in machine else [*machine.get("body", ()), machine["close"]]
    return machine["in"] not in machines or facts.isdisjoint(opening)
