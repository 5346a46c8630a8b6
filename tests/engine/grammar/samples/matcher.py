"""Whether a grammar allows a text: Earley's algorithm (1970) on rules as finite automata.

It reads the nodes themselves, and shares nothing with the conversion but them.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from specvino.engine.grammar._ebnf.nodes import Chars, Choice, Grammar, Node, Repeat, Rule, Sequence, Text
from specvino.engine.grammar._ebnf.ranges import Ranges


@dataclass(slots=True)
class _State:
    """A state of an automaton. A rule's automaton accepts where `accepts` is true."""

    empty: list["_State"] = field(default_factory=list)
    texts: list[tuple[str, "_State"]] = field(default_factory=list)
    chars: list[tuple[Ranges, "_State"]] = field(default_factory=list)
    rules: list[tuple[str, "_State"]] = field(default_factory=list)
    accepts: bool = False


# A rule at a state that it has come to, and the position in the text where it began.
_Item = tuple[str, _State, int]


class Matcher:
    """Matches texts with the rule `root` of a grammar. Rules may refer to themselves, at their beginning too."""

    def __init__(self, grammar: Grammar) -> None:
        self._grammar = grammar
        self._starts: dict[str, _State] = {}

    def matches(self, text: str) -> bool:
        return _Run(self, text).ended()

    def start(self, name: str) -> _State:
        """Returns the first state of a rule, whose automaton is made on first use."""
        if name not in self._starts:
            self._starts[name] = _State()
            _leading(self._starts[name], self._grammar.rules[name]).accepts = True
        return self._starts[name]


def _leading(state: _State, node: Node) -> _State:
    """Returns the state after the node."""
    end = _State()
    match node:
        case Text(""):
            return state
        case Text(text):
            state.texts.append((text, end))
        case Chars(ranges):
            state.chars.append((ranges, end))
        case Rule(name):
            state.rules.append((name, end))
        case Sequence(items):
            for item in items:
                state = _leading(state, item)
            return state
        case Choice(options):
            for option in options:
                _leading(state, option).empty.append(end)
        case Repeat(item, least, most):
            for _ in range(least):
                state = _leading(state, item)
            for _ in range((most or 0) - least):
                state.empty.append(end)
                state = _leading(state, item)
            if most is None:
                loop = _State()
                state.empty.append(loop)
                _leading(loop, item).empty.append(loop)
                state = loop
            state.empty.append(end)
        case _:
            raise AssertionError(f"no schema's grammar has {node}")
    return end


class _Run:
    def __init__(self, matcher: Matcher, text: str) -> None:
        self._matcher = matcher
        self._text = text
        # Items to go on with at a position. All text before has been read when a position's turn comes.
        self._items: dict[int, list[_Item]] = defaultdict(list)
        self._known: set[tuple[int, str, int, int]] = set()
        # The items that wait for a rule that begins at a position, and the positions where it ends.
        self._waiting: dict[tuple[str, int], list[_Item]] = defaultdict(list)
        self._ends: dict[tuple[str, int], set[int]] = defaultdict(set)

    def ended(self) -> bool:
        """Returns whether the root ends with the text."""
        self._begin("root", 0)
        for position in range(len(self._text) + 1):
            left = self._items.pop(position, [])
            self._items[position] = left
            while left:
                self._go_on(left.pop(), position)
        return len(self._text) in self._ends["root", 0]

    def _begin(self, name: str, position: int) -> None:
        self._add([(name, self._matcher.start(name), position)], position)

    def _add(self, items: Iterable[_Item], position: int) -> None:
        for name, state, origin in items:
            key = (position, name, id(state), origin)
            if key not in self._known:
                self._known.add(key)
                self._items[position].append((name, state, origin))

    def _go_on(self, item: _Item, position: int) -> None:
        name, state, origin = item
        self._add(((name, after, origin) for after in state.empty), position)
        for text, after in state.texts:
            if self._text.startswith(text, position):
                self._add([(name, after, origin)], position + len(text))
        for ranges, after in state.chars:
            if position < len(self._text) and _contains(ranges, ord(self._text[position])):
                self._add([(name, after, origin)], position + 1)
        for called, after in state.rules:
            waits = (name, after, origin)
            self._waiting[called, position].append(waits)
            self._begin(called, position)
            for end in self._ends[called, position]:  # it may be empty, and have ended before
                self._add([waits], end)
        if state.accepts and position not in self._ends[name, origin]:
            self._ends[name, origin].add(position)
            self._add(self._waiting[name, origin], position)


def _contains(ranges: Ranges, code: int) -> bool:
    index = bisect_right(ranges, (code, 0x110000)) - 1
    return index >= 0 and ranges[index][0] <= code <= ranges[index][1]
