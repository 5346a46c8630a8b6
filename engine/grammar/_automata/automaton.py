"""Deterministic automata of expressions: minimal, and without states from which no text ends."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from specvino.engine.grammar._automata.alphabet import Alphabet
from specvino.engine.grammar._automata.expressions import Expression, Expressions, TooLarge
from specvino.engine.grammar._ebnf.ranges import Ranges

MOST_STATES = 2048

# Of all automata of a schema together: they take a second of CPU time.
MOST_STATES_IN_ALL = 8192

Steps = Sequence[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class State:
    """Whether a text may end here, and the sets of characters that lead to other states, as atoms of the alphabet."""

    accepting: bool
    steps: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Automaton:
    """The automaton of a language that isn't empty. It starts in state 0."""

    states: Sequence[State]
    _alphabet: Alphabet

    def steps(self, number: int) -> Iterator[tuple[Ranges, int]]:
        """Yields the sets of characters that lead from a state to others, and these."""
        return ((self._alphabet.chars(mask), target) for mask, target in self.states[number].steps)

    @cached_property
    def longest(self) -> Sequence[int | None]:
        """The number of characters of the longest text from each state on; None where there is no limit."""
        return _longest([[target for _, target in state.steps] for state in self.states])

    @cached_property
    def shortest(self) -> Sequence[int]:
        """The number of characters of the shortest text from each state on."""
        shortest = _shortest([state.steps for state in self.states], [state.accepting for state in self.states])
        return [shortest[number] for number in range(len(self.states))]

    def equivalences(self, rounds: int) -> list[Sequence[int]]:
        """Returns the class of each state for each number of characters up to `rounds`: from states of one class the
        same texts of at most so many characters are accepted, and the same beginnings can be completed.
        """
        classes: Sequence[int] = [int(state.accepting) for state in self.states]
        rounds_of_classes = [classes]
        for _ in range(rounds):
            classes = _numbered([(state.accepting, _merged(state.steps, classes)) for state in self.states])
            rounds_of_classes.append(classes)
        return rounds_of_classes


def automaton(expressions: Expressions, root: Expression) -> Automaton | None:
    """Returns the automaton of an expression; None if nothing matches it. Raises TooLarge."""
    alphabet = Alphabet(expressions, root)
    numbers = {root: 0}
    steps: list[list[tuple[int, int]]] = []
    order = [root]
    for expression in order:
        expressions.states += 1
        if expressions.states > MOST_STATES_IN_ALL:
            raise TooLarge(f"the automata of the schema have more than {MOST_STATES_IN_ALL} states")
        edges: list[tuple[int, int]] = []
        for target, mask in alphabet.steps(expression).items():
            number = numbers.setdefault(target, len(order))
            if number == len(order):
                order.append(target)
                if number >= MOST_STATES:
                    raise TooLarge(f"its automaton has more than {MOST_STATES} states")
            edges.append((mask, number))
        steps.append(edges)
    accepting = [expressions.nullable(expression) for expression in order]
    shortest = _shortest(steps, accepting)
    if 0 not in shortest:
        return None
    kept = [[(mask, target) for mask, target in edges if target in shortest] for edges in steps]
    return Automaton(_minimal(kept, accepting, shortest), alphabet)


_Node = TypeVar("_Node", bound=Hashable)


def distances(targets: Mapping[_Node, Iterable[_Node]], ends: Iterable[_Node]) -> dict[_Node, int]:
    """Returns the number of steps from each state to the nearest end; states from which none is reached are left out.
    `targets` has all states, with those to which a step leads."""
    before: dict[_Node, list[_Node]] = {state: [] for state in targets}
    for state, successors in targets.items():
        for target in successors:
            before[target].append(state)
    known = dict.fromkeys(ends, 0)
    left = list(known)
    for state in left:
        for source in before[state]:
            if source not in known:
                known[source] = known[state] + 1
                left.append(source)
    return known


def _shortest(steps: Sequence[Steps], accepting: Sequence[bool]) -> dict[int, int]:
    """Returns the length of the shortest text from each state that has one."""
    targets = {number: [target for _, target in edges] for number, edges in enumerate(steps)}
    return distances(targets, (number for number, accepts in enumerate(accepting) if accepts))


def _longest(targets: Sequence[Sequence[int]]) -> list[int | None]:
    """Returns the length of the longest path from each node; None for those from which a cycle can be reached."""
    before: list[list[int]] = [[] for _ in targets]
    missing = [len(set(successors)) for successors in targets]
    for number, successors in enumerate(targets):
        for target in set(successors):
            before[target].append(number)
    longest: list[int | None] = [None] * len(targets)
    left = [number for number, count in enumerate(missing) if count == 0]
    for number in left:
        longest[number] = max((1 + (longest[target] or 0) for target in targets[number]), default=0)
        for source in before[number]:
            missing[source] -= 1
            if missing[source] == 0:
                left.append(source)
    return longest


def _minimal(steps: Sequence[Steps], accepting: Sequence[bool], shortest: Mapping[int, int]) -> list[State]:
    """Merges the states that accept the same texts (Moore's algorithm). It begins with the lengths of the shortest and
    the longest text, as otherwise the states of a counted repetition would be told apart one at a time.
    """
    longest = _longest([[target for _, target in edges] for edges in steps])
    classes = _numbered([(shortest.get(number), longest[number]) for number in range(len(steps))])
    while True:
        refined = _numbered([(own, _merged(edges, classes)) for own, edges in zip(classes, steps, strict=True)])
        if max(refined) == max(classes):
            break
        classes = refined
    numbers = {classes[0]: 0}
    order = [0]  # one state of each class, in the order in which they are reached
    for state in order:
        for _, target in steps[state]:
            if numbers.setdefault(classes[target], len(order)) == len(order):
                order.append(target)
    return [
        State(accepting[state], tuple((mask, numbers[target]) for mask, target in _merged(steps[state], classes)))
        for state in order
    ]


def _merged(steps: Steps, classes: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Returns the steps to each class of states."""
    merged: dict[int, int] = {}
    for mask, target in steps:
        merged[classes[target]] = merged.get(classes[target], 0) | mask
    return tuple(sorted((mask, target) for target, mask in merged.items()))


def _numbered(keys: Sequence[Hashable]) -> list[int]:
    numbers: dict[Hashable, int] = {}
    return [numbers.setdefault(key, len(numbers)) for key in keys]
