"""The laws of x-stream are about machines, facts and fields that exist."""

from collections.abc import Callable, Iterator
from typing import Any

from specvino.codegen.lint.stream_events import Events
from specvino.codegen.lint.stream_machines import Machines, chain, facts

# Those that take the fields of an instance from the event itself, which by rules is about several instances.
BY_FIELD = {"one id", "joined deltas", "whole equals pieces"}

Law = dict[str, Any]


def laws(entries: list[Law], machines: Machines, events: Events, by_field: bool) -> Iterator[str]:
    """Yields what is wrong with laws whose parameters are complete, where the machines are sound."""
    for entry in entries:
        name = entry["law"]
        if name in BY_FIELD and not by_field:
            yield f"law {name}: only where `classify` is a field"
        elif "of" in entry and "in" not in machines.get(entry["of"], ()):
            yield f"law {name}: {entry['of']!r} is not a machine inside another"
        elif name in CHECKS:
            for what in CHECKS[name](entry, machines, events):
                yield f"law {name}: {what}"


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
        places = [(text["delta"], "delta"), (text["done"], text["as"]), (owners[0]["close"], text["whole"])]
        for fact, path in places:
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
