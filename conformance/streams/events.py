"""Events: which facts they state, and what stands where in them."""

from collections.abc import Iterator, Mapping
from typing import Any

from specvino.conformance.streams.state_machines import Fact, StateMachines
from specvino.generated.streams import Rule

MISSING = object()


def at(value: Any, path: str) -> Any:
    """Returns what an event has at a path such as `response.id`; MISSING where it has nothing, which isn't null."""
    for name in path.split("."):
        if not isinstance(value, Mapping) or name not in value:
            return MISSING
        value = value[name]
    return value


def classify(event: Mapping[str, Any], by: tuple[Rule, ...] | str, machines: StateMachines) -> list[Fact]:
    """Returns the facts that an event states, in the order of the rules; by a field it is at most one."""
    if not isinstance(by, str):
        return list(_by_rules(event, by))
    name = event.get(by)
    machine = machines.of(name) if isinstance(name, str) else None
    if machine is None:
        return []
    return [Fact(str(name), tuple(_key(at(event, each.key or "")) for each in machines.chain(machine)))]


def _by_rules(event: Mapping[str, Any], rules: tuple[Rule, ...]) -> Iterator[Fact]:
    for rule in rules:
        if rule.each is None:
            if _states(event, rule):
                yield Fact(rule.fact, ())
        else:
            elements = at(event, rule.each)
            for element in elements if isinstance(elements, list) else ():
                if _states(element, rule):
                    yield Fact(rule.fact, (_key(at(element, rule.key or "")),))


def _states(place: Any, rule: Rule) -> bool:
    return any(at(place, path) not in (MISSING, None, "") for path in rule.at)


def _key(value: Any) -> Any:
    """Returns a number as it came; of whatever else a server sent for one its text, which is none of 0, 1, 2, …"""
    if value is MISSING:
        return "none"
    return value if type(value) is int else repr(value)
