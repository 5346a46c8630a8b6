"""Grammars as values: what a rule's right side is made of."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

from specvino.engine.grammar._ebnf.ranges import Ranges

# A repetition is spelled out item by item when it is compiled: the work grows with its bounds. So a long one is made
# of blocks of this many, whose rule is compiled once.
BLOCK = 32


@dataclass(frozen=True, slots=True)
class Text:
    """Is a literal text."""

    text: str


@dataclass(frozen=True, slots=True)
class Chars:
    """Is one character out of these."""

    ranges: Ranges


@dataclass(frozen=True, slots=True)
class Rule:
    """Refers to another rule, and is what that says."""

    name: str


@dataclass(frozen=True, slots=True)
class Sequence:
    """Holds items that come one after the other."""

    items: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """Is one of several; never of none."""

    options: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """Repeats an item from `least` to `most` times; `most` None is without end."""

    item: "Node"
    least: int
    most: int | None


@dataclass(frozen=True, slots=True)
class Until:
    """Is any text up to the first time that `text` comes, which is a part of it. A rule has nothing beside it."""

    text: str


@dataclass(frozen=True, slots=True)
class Dispatch:
    """Is any text in which `rule` follows wherever `trigger` comes. A rule has nothing beside it."""

    trigger: str
    rule: Rule


Node = Text | Chars | Rule | Sequence | Choice | Repeat | Until | Dispatch

EMPTY = Text("")


def sequence(*items: Node) -> Node:
    """Returns the items in this order; neighbouring texts become one."""
    joined: list[Node] = []
    for item in items:
        for part in item.items if isinstance(item, Sequence) else (item,):
            if isinstance(part, Text) and joined and isinstance(joined[-1], Text):
                joined[-1] = Text(joined[-1].text + part.text)
            elif part != EMPTY:
                joined.append(part)
    return joined[0] if len(joined) == 1 else Sequence(tuple(joined)) if joined else EMPTY


def choice(*options: Node) -> Node:
    """Returns one of these; choices among them are taken apart, so that a rule's alternatives lie side by side."""
    flat = (each for option in options for each in (option.options if isinstance(option, Choice) else (option,)))
    different = tuple(dict.fromkeys(flat))
    return different[0] if len(different) == 1 else Choice(different)


@dataclass(slots=True)
class Grammar:
    """Holds rules by name; an answer is what `root` says.

    `lookaheads` says of some rules what follows them. They add nothing to the texts: XGrammar learns from them, while
    it compiles, what it would else find out at each token.
    """

    rules: dict[str, Node] = field(default_factory=dict)
    lookaheads: dict[str, Node] = field(default_factory=dict)
    _made: dict[Hashable, Rule] = field(default_factory=dict)

    def add(self, name: str, node: Node) -> Rule:
        """Names a node and returns its rule; a name that is taken gets a number."""
        free = name
        while free in self.rules:
            free = f"{name}_{len(self.rules)}"
        self.rules[free] = node
        return Rule(free)

    def once(self, name: str, key: Hashable, make: Callable[[Rule], Node]) -> Rule:
        """Returns the rule with this name and key, made when it is first asked for. `make` gets the rule, which may
        hold itself."""
        found = self._made.get((name, key))
        if found is None:
            found = self._made[name, key] = self.add(name, EMPTY)
            self.rules[found.name] = make(found)
        return found

    def repeat(self, item: Node, least: int, most: int | None) -> Node:
        """Returns `item` so many times. `item` should be small, or a Rule."""
        if most is None:
            return sequence(self.exactly(item, least), Repeat(item, 0, None))
        if most <= BLOCK:
            return Repeat(item, least, most) if most else EMPTY
        return sequence(self.exactly(item, least), self._up_to(item, most - least))

    def exactly(self, item: Node, count: int) -> Node:
        """Returns `item` so many times, neither more nor less."""
        if count < BLOCK:
            return Repeat(item, count, count) if count else EMPTY
        blocks, rest = divmod(count, BLOCK)
        return sequence(self.exactly(self._block(item), blocks), self.exactly(item, rest))

    def _block(self, item: Node) -> Rule:
        name = f"block_{item.name}" if isinstance(item, Rule) else "block"
        return self.once(name, item, lambda _: Repeat(item, BLOCK, BLOCK))

    def _up_to(self, item: Node, most: int) -> Node:
        if most <= BLOCK:
            return Repeat(item, 0, most) if most else EMPTY
        blocks, rest = divmod(most + 1, BLOCK)
        block = self._block(item)
        less = sequence(self._up_to(block, blocks - 1), Repeat(item, 0, BLOCK - 1))
        if not rest:
            return less
        return choice(less, sequence(self.exactly(block, blocks), self._up_to(item, rest - 1)))
