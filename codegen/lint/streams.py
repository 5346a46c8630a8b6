"""The x-stream tables use a closed vocabulary and existing facts."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from specvino.codegen.lint.problem import Problem
from specvino.codegen.lint.vocabulary import entry, words
from specvino.codegen.spec import Spec
from specvino.document.operations import FRAMINGS, Operation, Schema, event_of, operations
from specvino.document.pointers import resolved


class Events:
    """The events of a stream whose table classifies by `classify`: rules, or the name of a field.

    `by_fact` maps each fact to the schema of the events that can state it. With rules that is the schema of any event.
    With a field it is the branch of the union in which the field is that const; `nameless` counts the branches without.
    """

    def __init__(
        self, document: Mapping[str, Any], media: dict[str, Any], classify: str | list[dict[str, Any]]
    ) -> None:
        self._document = document
        self._event = event_of(document, media)
        self.by_fact: dict[str, Schema] = {}
        self.nameless = 0
        if isinstance(classify, str):
            for branch in self._branches(self._event):
                fact = branch.get("properties", {}).get(classify, {}).get("const")
                if isinstance(fact, str):
                    self.by_fact[fact] = branch
                else:
                    self.nameless += 1
        else:
            self.by_fact = {rule["fact"]: self._event for rule in classify}

    def has(self, path: str, fact: str | None = None) -> bool:
        """Returns whether any event, or any with `fact`, can have a value at a path such as `choices[].index`."""
        return self._exists(self._event if fact is None else self.by_fact[fact], path)

    def examples(self) -> Iterator[Any]:
        """Yields the examples of the whole union and of its branches."""
        for schema in (resolved(self._document, self._event), *self._branches(self._event)):
            yield from schema.get("examples", ())

    def _branches(self, schema: Schema) -> Iterator[Schema]:
        schema = resolved(self._document, schema)
        branches = [*schema.get("anyOf", ()), *schema.get("oneOf", ())]
        for branch in branches:
            yield from self._branches(branch)
        if not branches:
            yield schema

    def _exists(self, schema: Schema, path: str) -> bool:
        schema = resolved(self._document, schema)
        branches = [branch for keyword in ("anyOf", "oneOf", "allOf") for branch in schema.get(keyword, ())]
        if any(self._exists(branch, path) for branch in branches):
            return True
        if path.startswith("[]"):
            return "items" in schema and (path == "[]" or self._exists(schema["items"], path[2:].lstrip(".")))
        name, _, rest = path.partition(".")
        name, elements, _ = name.partition("[]")
        child = schema.get("properties", {}).get(name)
        if child is None:
            return False
        rest = "[]." + rest if elements and rest else rest or elements
        return not rest or self._exists(child, rest)


Machines = dict[str, dict[str, Any]]


def facts(machine: dict[str, Any]) -> list[str]:
    """Returns every fact that a machine names."""
    single = [machine[role] for role in ("open", "close") if role in machine]
    return [*single, *(fact for role in ("body", "end", "fail", "abort") for fact in machine.get(role, ()))]


def chain(machines: Machines, name: str) -> list[str]:
    """Returns a machine and the machines around it, from the outside in, without the outermost."""
    names: list[str] = []
    while "in" in machines[name]:
        names.insert(0, name)
        name = machines[name]["in"]
    return names


def nesting(machines: Machines) -> Iterator[str]:
    """Yields the reasons why the machines aren't nested in one outermost machine; other checks rely on that."""
    if sum("in" not in machine for machine in machines.values()) != 1:
        yield "there must be one outermost machine, without `in`"
    for name, machine in machines.items():
        if "in" in machine and machine["in"] not in machines:
            yield f"machine {name}: there is no machine {machine['in']!r} to be in"
    for name in machines:
        seen, inside = [name], machines[name].get("in")
        while inside in machines and inside not in seen:
            seen.append(inside)
            inside = machines[inside].get("in")
        if inside == name:
            yield f"machine {name}: it is inside itself"


def uses(machines: Machines, events: Events) -> Iterator[str]:
    """Every fact of the events belongs to one machine, and machines have no other facts."""
    stated = Counter(fact for machine in machines.values() for fact in facts(machine))
    for fact in sorted(stated.keys() - events.by_fact.keys()):
        yield f"no event states the fact {fact!r}"
    for fact in sorted(events.by_fact.keys() - stated.keys()):
        yield f"no machine has the fact {fact!r}"
    for fact in sorted(fact for fact, times in stated.items() if times > 1):
        yield f"the fact {fact!r} stands in the machines {stated[fact]} times"


def keys(machines: Machines, events: Events, classify: str | list[dict[str, Any]]) -> Iterator[str]:
    """An event identifies the instance that its fact belongs to."""
    for name, machine in machines.items():
        names = chain(machines, name)
        if isinstance(classify, str):
            for key in (machines[outer]["key"] for outer in names):
                for fact in sorted(fact for fact in facts(machine) if fact in events.by_fact):
                    if not events.has(key, fact):
                        yield f"machine {name}: the event {fact} has no {key}"
            continue
        if len(names) > 1:
            yield f"machine {name}: by rules a fact has one key, so that nothing can be inside {machine['in']}"
        for rule in classify:
            if rule["fact"] in facts(machine) and rule.get("key") != machine.get("key"):
                yield f"machine {name}: its key is {machine.get('key')}, but that of {rule['fact']} {rule.get('key')}"


# Laws that read the fields of an instance from the event; with rules, an event is about several instances.
BY_FIELD = {"one id", "joined deltas", "whole equals pieces"}

Law = dict[str, Any]


def laws(entries: list[Law], machines: Machines, events: Events, by_field: bool) -> Iterator[str]:
    """Yields problems of laws with complete parameters, if the machines are valid."""
    for law in entries:
        name = law["law"]
        if name in BY_FIELD and not by_field:
            yield f"law {name}: only where `classify` is a field"
        elif "of" in law and "in" not in machines.get(law["of"], ()):
            yield f"law {name}: {law['of']!r} is not a machine inside another"
        elif name in CHECKS:
            for fault in CHECKS[name](law, machines, events):
                yield f"law {name}: {fault}"


def _constant(law: Law, machines: Machines, events: Events) -> Iterator[str]:
    for path in law["fields"]:
        if not events.has(path):
            yield f"the events have no {path}"


def _consecutive(law: Law, machines: Machines, events: Events) -> Iterator[str]:
    for fact in sorted(events.by_fact):
        if not events.has(law["field"], fact):
            yield f"the event {fact} has no {law['field']}"


def _one_id(law: Law, machines: Machines, events: Events) -> Iterator[str]:
    inside = [machine for name, machine in machines.items() if law["of"] in chain(machines, name)]
    for path in law["fields"]:
        if not any(events.has(path, fact) for machine in inside for fact in facts(machine)):
            yield f"no event of {law['of']} has {path}"


def _joined_deltas(law: Law, machines: Machines, events: Events) -> Iterator[str]:
    for text in law["texts"]:
        owners = [
            machine for machine in machines.values() if {text["delta"], text["done"]} <= {*machine.get("body", ())}
        ]
        if not owners or "in" not in owners[0]:
            yield f"{text['delta']} and {text['done']} are not in the body of one inner machine"
            continue
        paths = [(text["delta"], "delta"), (text["done"], text["as"]), (owners[0]["close"], text["whole"])]
        for fact, path in paths:
            if not events.has(path, fact):
                yield f"the event {fact} has no {path}"


def _whole_equals_pieces(law: Law, machines: Machines, events: Events) -> Iterator[str]:
    machine = machines[law["of"]]
    around = machines[machine["in"]]
    ends = [around["close"]] if "close" in around else around["end"]
    for fact, path in [(machine["close"], law["piece"]), *((end, law["whole"]) for end in ends)]:
        if not events.has(path, fact):
            yield f"the event {fact} has no {path}"


CHECKS: dict[str, Callable[[Law, Machines, Events], Iterator[str]]] = {
    "constant": _constant,
    "consecutive": _consecutive,
    "one id": _one_id,
    "joined deltas": _joined_deltas,
    "whole equals pieces": _whole_equals_pieces,
}


def tables(spec: Spec) -> Iterator[Problem]:
    """Every stream has a consistent table."""
    for operation in operations(spec.document):
        location = f"{operation.label} x-stream"
        table = operation.definition.get("x-stream")
        if (operation.stream is None) != (table is None):
            yield Problem("x-stream", location, "an operation has a stream among its answers and x-stream, or neither")
        elif operation.stream is not None and table is not None:
            for fault in list(words(spec.vocabulary, table)) or _faults(operation, operation.stream, table):
                yield Problem("x-stream", location, fault)


def examples(spec: Spec) -> Iterator[Problem]:
    """The examples of an event show every fact that a stream can state."""
    for operation in operations(spec.document):
        if "x-stream" not in operation.definition:
            continue
        classify = operation.definition["x-stream"]["classify"]
        events = Events(spec.document, operation.stream or {}, classify)
        stated = {fact for event in events.examples() for fact in _stated(event, classify)}
        for fact in sorted(events.by_fact.keys() - stated):
            yield Problem("examples", f"{operation.label} stream", f"no example states the fact {fact!r}")


def _faults(operation: Operation, media: dict[str, Any], table: dict[str, Any]) -> Iterator[str]:
    classify, machines = table["classify"], table["machines"]
    events = Events(operation.document, media, classify)
    if "silent" in table:
        yield "silent: only the document of a system has it"
    for name, machine in machines.items():
        if not machine.keys() & {"in", "end"}:
            yield f"machine {name}: only in the document of a system it may be without `end`"
    if media is not operation.content().get(FRAMINGS[table["framing"]]):
        yield f"framing {table['framing']}: the media type of the stream must be {FRAMINGS[table['framing']]}"
    elif table["framing"] != "lines":
        yield from _framing(resolved(operation.document, media["itemSchema"]), table)
    elif table["terminator"] is not None:
        yield "framing lines: no text ends the stream, so the terminator must be null"
    if isinstance(classify, str):
        if events.nameless:
            yield f"classify: {events.nameless} branches of the event have no const {classify}"
    else:
        yield from _rules(events, classify)
    misplaced = list(nesting(machines))
    yield from misplaced
    wrong = misplaced or list(uses(machines, events))
    yield from wrong if not misplaced else ()
    if not wrong:
        yield from keys(machines, events, classify)
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
        yield f"classify {fact}: the fact is listed twice"
    for rule in rules:
        prefix = f"{rule['each']}[]." if "each" in rule else ""
        paths = [prefix + path for path in (*rule["at"], *([rule["key"]] if prefix else []))]
        for path in [*paths, *([rule["unless"]] if "unless" in rule else [])]:
            if not events.has(path):
                yield f"classify {rule['fact']}: the event has no {path}"


def _stated(event: Any, classify: str | list[dict[str, Any]]) -> Iterator[str]:
    """Yields the facts that an example states."""
    if isinstance(classify, str):
        yield event.get(classify)
        return
    for rule in classify:
        if "unless" in rule and _at(event, rule["unless"]) not in (None, []):
            continue
        for item in [event] if "each" not in rule else (event.get(rule["each"]) or []):
            if any(_at(item, path) not in (None, "") for path in rule["at"]):
                yield rule["fact"]


def _at(value: Any, path: str) -> Any:
    for step in path.split("."):
        value = value.get(step) if isinstance(value, dict) else None
    return value
