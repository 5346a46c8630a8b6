"""Judges a stream by the document's table: is it one that the protocol allows?

Without I/O: events go in one by one, violations come out. An event is first classified into the facts that it states
(a choice's role, a piece of content, a finish, …); the facts drive the machines; the laws are what must hold beside.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from specvino.generated.streams import Law, Machine, Rule, Stream

Key = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that an event states, about the thing that `key` names (for one outermost thing, the empty key)."""

    name: str
    key: Key


@dataclass(slots=True)
class Instance:
    """One thing under way: a choice, say."""

    closed: bool = False


@dataclass(slots=True)
class _State:
    instances: dict[str, dict[Key, Instance]] = field(default_factory=dict)
    ended_by: str | None = None


LAWS = {"keys dense", "children close first", "constant", "one fact"}


class StreamJudge:
    """Feed it every event, then `end`. Both yield violations, each a sentence."""

    def __init__(self, table: Stream) -> None:
        if unknown := {law.name for law in table.laws} - LAWS:
            raise ValueError(f"no judge knows the laws {', '.join(sorted(unknown))}")
        self._table = table
        self._state = _State(instances={machine.name: {} for machine in table.machines if machine.inside})
        self._constants: dict[str, Any] = {}
        self._failed = False

    def feed(self, event: Mapping[str, Any]) -> Iterator[str]:
        facts = list(classify(event, self._table.classify))
        if not facts:
            yield "an event states nothing"
        for law in self._table.laws:
            if law.name in _EVENT_LAWS:
                yield from _EVENT_LAWS[law.name](self, law, event, facts)
        for fact in facts:
            if self._state.ended_by:
                yield f"{_shown(fact)} comes after the stream was ended by {self._state.ended_by}"
            yield from self._advance(fact)

    def end(self, *, terminated: bool) -> Iterator[str]:
        """The connection is closed; `terminated` says whether the terminator came, once and last."""
        if self._table.terminator is not None and not terminated:
            yield f"the stream does not end with {self._table.terminator}"
        if self._failed:
            return  # what an error cut off need not be whole
        for machine in self._table.machines:
            if machine.inside:
                for key, instance in self._state.instances[machine.name].items():
                    if not instance.closed:
                        yield f"{machine.name} {_key(key)} was never closed by {machine.close}"
        if not any(self._state.instances.values()):
            yield "the stream holds nothing"
        for law in self._table.laws:
            if law.name == "keys dense":
                yield from self._keys_dense()

    def _advance(self, fact: Fact) -> Iterator[str]:
        for machine in self._table.machines:
            if fact.name in machine.end:
                self._state.ended_by = fact.name
                self._failed = self._failed or fact.name == "error"
                if not self._failed and Law("children close first", None, ()) in self._table.laws:
                    yield from self._open_children(machine, fact)
            elif machine.inside and fact.name in (machine.open, machine.close, *machine.body):
                yield from self._advance_instance(machine, fact)

    def _advance_instance(self, machine: Machine, fact: Fact) -> Iterator[str]:
        instances = self._state.instances[machine.name]
        instance = instances.get(fact.key)
        thing = f"{machine.name} {_key(fact.key)}"
        if fact.name == machine.open:
            if instance is not None:
                yield f"{thing} is opened by {fact.name} a second time"
            instances.setdefault(fact.key, Instance())
            return
        if instance is None:
            yield f"{fact.name} comes before {thing} was opened by {machine.open}"
            instance = instances.setdefault(fact.key, Instance())
        if instance.closed:
            yield f"{fact.name} comes after {thing} was closed by {machine.close}"
        instance.closed = instance.closed or fact.name == machine.close

    def _open_children(self, machine: Machine, fact: Fact) -> Iterator[str]:
        for child in self._table.machines:
            if child.inside == machine.name:
                for key, instance in self._state.instances[child.name].items():
                    if not instance.closed:
                        yield f"{fact.name} comes before {child.name} {_key(key)} was closed by {child.close}"

    def _keys_dense(self) -> Iterator[str]:
        for machine in self._table.machines:
            keys = [key[-1] for key in self._state.instances.get(machine.name, {})]
            if set(keys) != set(range(len(keys))):
                shown = ", ".join(sorted(map(repr, keys)))
                yield f"the values of {machine.key} of {machine.name} are {shown}, not 0 to {len(keys) - 1}"

    def _constant(self, law: Law, event: Mapping[str, Any], facts: list[Fact]) -> Iterator[str]:
        if any(fact.name == "error" for fact in facts):
            return  # an error has a form of its own
        for name in law.fields:
            value = event.get(name)
            if value != self._constants.setdefault(name, value):
                yield f"{name} was {self._constants[name]!r} and is now {value!r}"

    def _one_fact(self, law: Law, event: Mapping[str, Any], facts: list[Fact]) -> Iterator[str]:
        machine = next(machine for machine in self._table.machines if machine.name == law.of)
        stated: dict[Key, str] = {}
        for fact in facts:
            if fact.name in (machine.open, machine.close, *machine.body):
                if fact.key in stated:
                    yield f"one event states both {stated[fact.key]} and {fact.name} of {machine.name} {_key(fact.key)}"
                stated[fact.key] = fact.name


_EVENT_LAWS: dict[str, Callable[[StreamJudge, Law, Mapping[str, Any], list[Fact]], Iterator[str]]] = {
    "constant": StreamJudge._constant,
    "one fact": StreamJudge._one_fact,
}


def classify(event: Mapping[str, Any], rules: tuple[Rule, ...]) -> Iterator[Fact]:
    """The facts that an event states, in the order of the rules."""
    for rule in rules:
        if rule.each is None:
            if _at(event, rule.at) is not None:
                yield Fact(rule.fact, ())
        else:
            elements = event.get(rule.each)
            for element in elements if isinstance(elements, list) else ():
                if _at(element, rule.at) is not None:
                    yield Fact(rule.fact, (_hashable(_at(element, rule.key or "")),))


def _at(value: Any, path: str) -> Any:
    for name in path.split("."):
        if not isinstance(value, Mapping):
            return None
        value = value.get(name)
    return value


def _hashable(value: Any) -> Any:
    """A key as it came, or its text where a server sent a list or an object for one."""
    return value if isinstance(value, str | int | float | None) else repr(value)


def _shown(fact: Fact) -> str:
    return f"{fact.name} of {_key(fact.key)}" if fact.key else fact.name


def _key(key: Key) -> str:
    return ".".join(map(str, key))
