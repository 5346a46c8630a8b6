"""Invariants of a stream's table, one class for each kind of law in `generated/streams.py`."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from specvino.conformance.streams.state_machines import MISSING, Fact, Key, StateMachines, at, facts_of, shown
from specvino.generated import streams

Event = Mapping[str, Any]


class Invariant:
    """An invariant of one stream. `machines` has the state before the current event or fact."""

    def __init__(self, machines: StateMachines) -> None:
        self.machines = machines

    def event(self, event: Event, facts: list[Fact]) -> Iterable[str]:
        """Yields the violations by an event with these facts."""
        return ()

    def aside(self, event: Event) -> Iterable[str]:
        """Yields the violations by an event without a fact that is no part of the answer."""
        return ()

    def fact(self, event: Event, fact: Fact) -> Iterable[str]:
        """Yields the violations by one fact of an event. Called for each fact, after `event`."""
        return ()

    def end(self) -> Iterable[str]:
        """Yields the violations at the end of a stream that didn't fail."""
        return ()


class KeysDenseInvariant(Invariant):
    def __init__(self, law: streams.KeysDense, machines: StateMachines) -> None:
        super().__init__(machines)

    def end(self) -> Iterator[str]:
        for name, instances in self.machines.instances.items():
            siblings: dict[Key, list[Any]] = defaultdict(list)
            for key in instances:
                siblings[key[:-1]].append(key[-1])
            for around, keys in siblings.items():
                if set(keys) != set(range(len(keys))):
                    of = f"{name} in {shown(around)}" if around else name
                    field, values = self.machines.named(name).key, ", ".join(sorted(map(repr, keys)))
                    yield f"the values of {field} of {of} are {values}, not 0 to {len(keys) - 1}"


class ChildrenCloseFirstInvariant(Invariant):
    def __init__(self, law: streams.ChildrenCloseFirst, machines: StateMachines) -> None:
        super().__init__(machines)

    def fact(self, event: Event, fact: Fact) -> Iterator[str]:
        machine = self.machines.of(fact.name)
        if machine and (fact.name == machine.close or fact.name in machine.end):
            for child, key in self.machines.open_children(machine, fact.key):
                yield f"{fact.name} comes before {child.name} {shown(key)} was closed by {child.close}"


class ConstantInvariant(Invariant):
    def __init__(self, law: streams.Constant, machines: StateMachines) -> None:
        super().__init__(machines)
        self._fields = law.fields
        self._values: dict[str, Any] = {}

    def event(self, event: Event, facts: list[Fact]) -> Iterator[str]:
        for field in self._fields:
            value = at(event, field)
            if value is not MISSING and value != self._values.setdefault(field, value):
                yield f"{field} was {self._values[field]!r} and is now {value!r}"


class OneFactInvariant(Invariant):
    def __init__(self, law: streams.OneFact, machines: StateMachines) -> None:
        super().__init__(machines)
        self._of = law.of
        self._facts = facts_of(machines.named(law.of))

    def event(self, event: Event, facts: list[Fact]) -> Iterator[str]:
        stated: dict[Key, str] = {}
        for fact in facts:
            if fact.name in self._facts:
                if fact.key in stated:
                    yield f"one event states both {stated[fact.key]} and {fact.name} of {self._of} {shown(fact.key)}"
                stated[fact.key] = fact.name


class ConsecutiveInvariant(Invariant):
    def __init__(self, law: streams.Consecutive, machines: StateMachines) -> None:
        super().__init__(machines)
        self._field, self._next = law.field, law.start

    def event(self, event: Event, facts: list[Fact]) -> Iterator[str]:
        value = at(event, self._field)
        if value is MISSING:  # event-shape reports it
            self._next += 1
            return
        if type(value) is not int:
            yield f"{self._field} is {value!r}, not {self._next}"
            self._next += 1
            return
        if value != self._next:
            yield f"{self._field} is {value}, not {self._next}"
        self._next = value + 1

    def aside(self, event: Event) -> Iterator[str]:
        # Events of a server's own types may be numbered like the others, or not at all.
        if type(at(event, self._field)) is int:
            yield from self.event(event, [])


class OneIdInvariant(Invariant):
    def __init__(self, law: streams.OneId, machines: StateMachines) -> None:
        super().__init__(machines)
        self._law = law
        self._depth = len(machines.chain(machines.named(law.of)))
        self._ids: dict[Key, Any] = {}

    def fact(self, event: Event, fact: Fact) -> Iterator[str]:
        machine = self.machines.of(fact.name)
        if machine is None or self._law.of not in [
            state_machine.name for state_machine in self.machines.chain(machine)
        ]:
            return
        key, of = fact.key[: self._depth], self._law.of
        for field in self._law.fields:
            value = at(event, field)
            if value is MISSING:
                continue
            if key not in self._ids:
                for other, other_id in self._ids.items():
                    if other[:-1] == key[:-1] and other_id == value:
                        yield f"{of} {shown(key)} has the id of {of} {shown(other)}, {value!r}"
                self._ids[key] = value
            if value != self._ids[key]:
                yield f"{field} of {of} {shown(key)} was {self._ids[key]!r} and is now {value!r}"


class JoinedDeltasInvariant(Invariant):
    def __init__(self, law: streams.JoinedDeltas, machines: StateMachines) -> None:
        super().__init__(machines)
        self._texts = law.texts
        self._joined: dict[tuple[streams.Text, Key], str] = {}
        self._done: set[tuple[streams.Text, Key]] = set()

    def fact(self, event: Event, fact: Fact) -> Iterator[str]:
        for text in self._texts:
            instance = (text, fact.key)
            if fact.name in (text.delta, text.done) and instance in self._done:
                yield f"{fact.name} of {shown(fact.key)} comes after {text.done}"
            if fact.name == text.delta:
                self._joined[instance] = self._joined.get(instance, "") + str(event.get("delta"))
            elif fact.name == text.done:
                self._done.add(instance)
                yield from self._compare(event, fact, text.field, self._joined.setdefault(instance, ""))
        machine = self.machines.of(fact.name)
        if machine and fact.name == machine.close:
            yield from self._close(event, fact, [text for text in self._texts if text.delta in machine.body])

    def _close(self, event: Event, fact: Fact, texts: list[streams.Text]) -> Iterator[str]:
        wholes: dict[str, str] = defaultdict(str)
        for text in texts:
            # Several kinds of text can share a path; an instance has one kind.
            wholes[text.whole] += self._joined.get((text, fact.key), "")
            if (text, fact.key) in self._joined.keys() - self._done:
                yield f"{fact.name} of {shown(fact.key)} comes before {text.done}"
        for path, joined in wholes.items():
            # A value that isn't a text, like the arguments of a search for tools, isn't streamed.
            if isinstance(at(event, path), str):
                yield from self._compare(event, fact, path, joined)

    def _compare(self, event: Event, fact: Fact, path: str, joined: str) -> Iterator[str]:
        value = at(event, path)
        if value != joined:
            actual = "missing" if value is MISSING else _short(value)
            yield f"{path} of {fact.name} of {shown(fact.key)} is {actual}, but the deltas join to {_short(joined)}"


class WholeEqualsPiecesInvariant(Invariant):
    def __init__(self, law: streams.WholeEqualsPieces, machines: StateMachines) -> None:
        super().__init__(machines)
        self._law = law
        self._close = machines.named(law.of).close
        around = machines.named(machines.named(law.of).inside or "")
        self._ends = {around.close, *around.end} - {None}
        self._pieces: dict[Key, Any] = {}

    def fact(self, event: Event, fact: Fact) -> Iterator[str]:
        law = self._law
        if fact.name == self._close:
            self._pieces.setdefault(fact.key, at(event, law.piece))
        elif fact.name in self._ends:
            keys = sorted((key for key in self._pieces if key[:-1] == fact.key), key=_sort_key)
            # An object that can't have such pieces may be without a list of them.
            listed = at(event, law.whole)
            listed = [] if listed is MISSING or listed is None else listed
            if not isinstance(listed, list):
                yield f"{law.whole} of {fact.name} is {_short(listed)}, not a list"
            elif len(listed) != len(keys):
                yield f"{law.whole} of {fact.name} holds {len(listed)}, but the stream has closed {len(keys)} {law.of}s"
            else:
                for index, key in enumerate(keys):
                    whole, piece = self._comparable(listed[index]), self._comparable(self._pieces[key])
                    if whole != piece:
                        difference = _first_difference(whole, piece)
                        problem = f"{law.whole}.{index} of {fact.name} is not the {law.piece} of {law.of} {shown(key)}"
                        yield f"{problem}: {difference} differs" if difference else problem

    def _comparable(self, value: Any) -> Any:
        """Returns a piece without the values that are others each time."""
        if not isinstance(value, Mapping):
            return value
        return {name: bool(member) if name in self._law.varying else member for name, member in value.items()}


def _first_difference(one: Any, other: Any) -> str:
    """Returns the path of the first part in which two unequal values differ; empty for the values as a whole."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        steps = [(str(name), one.get(name, MISSING), other.get(name, MISSING)) for name in {**one, **other}]
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        steps = [(str(index), *pair) for index, pair in enumerate(zip(one, other, strict=True))]
    else:
        return ""
    step, left, right = next(step for step in steps if step[1] != step[2])
    return ".".join(filter(None, (step, _first_difference(left, right))))


def _sort_key(key: Key) -> tuple[bool, Any]:
    """Returns a sort key: numbers first, then strings that a server sent instead."""
    return isinstance(key[-1], str), key[-1]


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}…"


INVARIANTS: dict[type, Callable[[Any, StateMachines], Invariant]] = {
    streams.KeysDense: KeysDenseInvariant,
    streams.ChildrenCloseFirst: ChildrenCloseFirstInvariant,
    streams.Constant: ConstantInvariant,
    streams.OneFact: OneFactInvariant,
    streams.Consecutive: ConsecutiveInvariant,
    streams.OneId: OneIdInvariant,
    streams.JoinedDeltas: JoinedDeltasInvariant,
    streams.WholeEqualsPieces: WholeEqualsPiecesInvariant,
}
