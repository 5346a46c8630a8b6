"""The state machines of a stream's table: facts that events state, instances that they open and close, and illegal
transitions."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from specvino.generated.streams import Machine, Rule

Key = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Fact:
    """A statement of an event about one instance of a machine. `key` has the instance's key and those of its parents,
    outermost first; it is empty for the outermost machine, which has one instance."""

    name: str
    key: Key


@dataclass(slots=True)
class Instance:
    """The state of one instance of a machine, such as a choice."""

    closed: bool = False


class StateMachines:
    """The machines of a table, with the state of all instances in one stream. `has_terminator` is whether a text ends
    the stream."""

    def __init__(self, machines: tuple[Machine, ...], *, has_terminator: bool = True) -> None:
        self._named = {machine.name: machine for machine in machines}
        self._outermost = next(machine for machine in machines if machine.inside is None)
        self._machine_of = {fact: machine for machine in machines for fact in facts_of(machine)}
        self._begun = False
        self._ended_by: str | None = None
        self.failed = False
        """Whether the stream ended by a failure, which excuses unclosed instances."""
        self.instances: dict[str, dict[Key, Instance]] = {machine.name: {} for machine in machines if machine.inside}
        # Without instances and a terminator, only an end shows that the stream is complete.
        self._must_end = bool(self._outermost.open or not (self.instances or has_terminator))

    def named(self, name: str) -> Machine:
        """Returns the machine of this name. Raises KeyError."""
        return self._named[name]

    def of(self, fact: str) -> Machine | None:
        """Returns the machine that a fact belongs to, or None."""
        return self._machine_of.get(fact)

    def chain(self, machine: Machine) -> list[Machine]:
        """Returns a machine and its parents, outermost first, without the outermost machine of the table."""
        return [] if machine.inside is None else [*self.chain(self._named[machine.inside]), machine]

    def open_children(self, machine: Machine, key: Key) -> Iterator[tuple[Machine, Key]]:
        """Yields the direct children of an instance that aren't closed."""
        for child in self._named.values():
            if child.inside == machine.name:
                for child_key, instance in self.instances[child.name].items():
                    if child_key[:-1] == key and not instance.closed:
                        yield child, child_key

    def advance(self, fact: Fact) -> Iterator[str]:
        """Applies a fact and yields the illegal transitions."""
        machine, outermost = self._machine_of[fact.name], self._outermost
        if self._ended_by:
            instance = f" of {shown(fact.key)}" if fact.key else ""
            yield f"{fact.name}{instance} comes after the {outermost.name} was ended by {self._ended_by}"
        if fact.name == outermost.open:
            if self._begun:
                yield f"the {outermost.name} is opened by {fact.name} a second time"
            self._begun = True
        elif outermost.open and not self._begun and fact.name not in outermost.abort:
            yield f"{fact.name} comes before the {outermost.name} was opened by {outermost.open}"
            self._begun = True  # reported once
        elif not self.instances:
            self._begun = True
        if machine is not outermost:
            yield from self._advance_inner(machine, fact)
        elif fact.name in (*machine.end, *machine.fail, *machine.abort):
            self.failed = self.failed or fact.name not in machine.end
            self._ended_by = self._ended_by or fact.name

    def finish(self) -> Iterator[str]:
        """Yields what is missing at the end of a stream that didn't fail."""
        for machine in self._named.values():
            for key, instance in self.instances.get(machine.name, {}).items():
                if not instance.closed:
                    yield f"{machine.name} {shown(key)} was never closed by {machine.close}"
        if not self._begun and not any(self.instances.values()):
            yield "the stream has no events"
        elif self._must_end and not self._ended_by:
            yield f"the {self._outermost.name} was never ended by {' or '.join(self._outermost.end)}"

    def _advance_inner(self, machine: Machine, fact: Fact) -> Iterator[str]:
        parent = self._named[machine.inside or ""]
        if parent.inside is not None:
            yield from self._check_parent(parent, fact)
        instances = self.instances[machine.name]
        instance, label = instances.get(fact.key), f"{machine.name} {shown(fact.key)}"
        if fact.name == machine.open:
            if instance is not None:
                yield f"{label} is opened by {fact.name} a second time"
            instances.setdefault(fact.key, Instance())
            return
        if instance is None:
            if machine.open is not None:
                yield f"{fact.name} comes before {label} was opened by {machine.open}"
            instance = instances.setdefault(fact.key, Instance())
        if instance.closed:
            yield f"{fact.name} comes after {label} was closed by {machine.close}"
        instance.closed = instance.closed or fact.name == machine.close

    def _check_parent(self, parent: Machine, fact: Fact) -> Iterator[str]:
        """Yields a violation if the parent instance of a fact isn't open."""
        key = fact.key[:-1]
        instance = self.instances[parent.name].get(key)
        if instance is None:
            yield f"{fact.name} comes before {parent.name} {shown(key)} was opened by {parent.open}"
            self.instances[parent.name][key] = Instance()  # reported once
        elif instance.closed:
            yield f"{fact.name} comes after {parent.name} {shown(key)} was closed by {parent.close}"


def facts_of(machine: Machine) -> set[str]:
    """Returns the names of all facts of a machine."""
    named = {machine.open, machine.close, *machine.body, *machine.end, *machine.fail, *machine.abort}
    return {fact for fact in named if fact is not None}


def shown(key: Key) -> str:
    """Returns a key as text for messages: `0.1`."""
    return ".".join(map(str, key))


MISSING = object()


def at(value: Any, path: str) -> Any:
    """Returns the value at a path of an event, such as `response.id`; MISSING (which isn't null) if there is none."""
    for name in path.split("."):
        if not isinstance(value, Mapping) or name not in value:
            return MISSING
        value = value[name]
    return value


def classify(event: Mapping[str, Any], by: tuple[Rule, ...] | str, machines: StateMachines) -> list[Fact]:
    """Returns the facts that an event states, in the order of the rules. If the table classifies by a field, there is
    at most one."""
    if not isinstance(by, str):
        return list(_by_rules(event, by))
    name = event.get(by)
    machine = machines.of(name) if isinstance(name, str) else None
    if machine is None:
        return []
    return [Fact(str(name), tuple(_key(at(event, level.key or "")) for level in machines.chain(machine)))]


def _by_rules(event: Mapping[str, Any], rules: tuple[Rule, ...]) -> Iterator[Fact]:
    for rule in rules:
        if rule.unless is not None and at(event, rule.unless) not in (MISSING, None, []):
            continue
        if rule.each is None:
            if _states(event, rule):
                yield Fact(rule.fact, ())
        else:
            elements = at(event, rule.each)
            for element in elements if isinstance(elements, list) else ():
                if _states(element, rule):
                    yield Fact(rule.fact, (_key(at(element, rule.key or "")),))


def _states(element: Any, rule: Rule) -> bool:
    return any(at(element, path) not in (MISSING, None, "") for path in rule.at)


def _key(value: Any) -> Any:
    """Returns an integer unchanged, and any other value as text that can't equal an integer."""
    if value is MISSING:
        return "none"
    return value if type(value) is int else repr(value)
