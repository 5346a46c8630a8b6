"""The machines of x-stream: one outermost, the others inside it, and each fact in one place."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from specvino.codegen.lint.stream_events import Events

Machines = dict[str, dict[str, Any]]


def facts(machine: dict[str, Any]) -> list[str]:
    """Returns every fact that a machine names."""
    single = [machine[role] for role in ("open", "close") if role in machine]
    return [*single, *(fact for role in ("body", "end", "fail", "abort") for fact in machine.get(role, ()))]


def chain(machines: Machines, name: str) -> list[str]:
    """Returns a machine and those around it from the outside in, the outermost left out."""
    names: list[str] = []
    while "in" in machines[name]:
        names.insert(0, name)
        name = machines[name]["in"]
    return names


def nesting(machines: Machines) -> Iterator[str]:
    """Yields what keeps the machines from being inside each other and all inside one; checks of other things need it
    first."""
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
    """Every fact of the events has its place in one machine, and there are no others."""
    stated = Counter(fact for machine in machines.values() for fact in facts(machine))
    for fact in sorted(stated.keys() - events.by_fact.keys()):
        yield f"no event states the fact {fact!r}"
    for fact in sorted(events.by_fact.keys() - stated.keys()):
        yield f"no machine has the fact {fact!r}"
    for fact in sorted(fact for fact, times in stated.items() if times > 1):
        yield f"the fact {fact!r} stands in the machines {stated[fact]} times"


def keys(machines: Machines, events: Events, classify: str | list[dict[str, Any]]) -> Iterator[str]:
    """An event says of which instance its fact is."""
    for name, machine in machines.items():
        names = chain(machines, name)
        if isinstance(classify, str):
            for key in (machines[each]["key"] for each in names):
                for fact in sorted(fact for fact in facts(machine) if fact in events.by_fact):
                    if not events.has(key, fact):
                        yield f"machine {name}: the event {fact} has no {key}"
            continue
        if len(names) > 1:
            yield f"machine {name}: by rules a fact has one key, so that nothing can be inside {machine['in']}"
        for rule in classify:
            if rule["fact"] in facts(machine) and rule.get("key") != machine.get("key"):
                yield f"machine {name}: its key is {machine.get('key')}, but that of {rule['fact']} {rule.get('key')}"
