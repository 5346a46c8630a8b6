"""Grammars as values: the nodes of which a rule's right-hand side consists."""

from collections.abc import Callable, Collection, Hashable
from dataclasses import dataclass, field

from specvino.engine.grammar._ebnf.ranges import Ranges

# XGrammar compiles a repetition item by item, so the work grows with its bounds. So a long one consists of blocks of
# this many items, whose rule is compiled once.
BLOCK = 32


@dataclass(frozen=True, slots=True)
class Text:
    """A literal text."""

    text: str


@dataclass(frozen=True, slots=True)
class Chars:
    """One character of a set."""

    ranges: Ranges


@dataclass(frozen=True, slots=True)
class Rule:
    """A reference to a rule."""

    name: str


@dataclass(frozen=True, slots=True)
class Sequence:
    """Items that follow one another."""

    items: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several options; there is at least one."""

    options: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """An item repeated `least` to `most` times; `most` None is unbounded."""

    item: "Node"
    least: int
    most: int | None


@dataclass(frozen=True, slots=True)
class Until:
    """Any text up to and including the first occurrence of `text`. It is the whole right-hand side of its rule."""

    text: str


@dataclass(frozen=True, slots=True)
class Dispatch:
    """Any text in which `rule` follows each occurrence of `trigger`. It is the whole right-hand side of its rule."""

    trigger: str
    rule: Rule


Node = Text | Chars | Rule | Sequence | Choice | Repeat | Until | Dispatch

EMPTY = Text("")

CharNode = Callable[[Ranges], Node]
"""Makes the node of one character of a set."""


def sequence(*items: Node) -> Node:
    """Returns the items in this order; adjacent texts are joined."""
    joined: list[Node] = []
    for item in items:
        for part in item.items if isinstance(item, Sequence) else (item,):
            if isinstance(part, Text) and joined and isinstance(joined[-1], Text):
                joined[-1] = Text(joined[-1].text + part.text)
            elif part != EMPTY:
                joined.append(part)
    return joined[0] if len(joined) == 1 else Sequence(tuple(joined)) if joined else EMPTY


def choice(*options: Node) -> Node:
    """Returns a choice of the options. Nested choices are flattened and duplicates dropped."""
    flat = (item for option in options for item in (option.options if isinstance(option, Choice) else (option,)))
    distinct = tuple(dict.fromkeys(flat))
    return distinct[0] if len(distinct) == 1 else Choice(distinct)


@dataclass(slots=True)
class Grammar:
    """Rules by name; `root` is the start. `lookaheads` are the continuations of some rules. They don't change the
    language: with them, XGrammar decides at compile time what it would otherwise check at each token.
    """

    rules: dict[str, Node] = field(default_factory=dict)
    lookaheads: dict[str, Node] = field(default_factory=dict)
    _made: dict[Hashable, Rule] = field(default_factory=dict)

    def add(self, name: str, node: Node) -> Rule:
        """Adds a node under a name and returns its rule; a name that exists gets a number."""
        free, number = name, len(self.rules)
        while free in self.rules:
            free = f"{name}_{number}"
            number += 1
        self.rules[free] = node
        return Rule(free)

    def once(self, name: str, key: Hashable, make: Callable[[Rule], Node]) -> Rule:
        """Returns the rule with this name and key, which is created on first use. `make` receives the rule, which may
        refer to itself.
        """
        rule = self._made.get((name, key))
        if rule is None:
            rule = self._made[name, key] = self.add(name, EMPTY)
            try:
                self.rules[rule.name] = make(rule)
            except BaseException:
                self.remove({rule.name})
                raise
        return rule

    def remove(self, names: Collection[str]) -> None:
        """Removes the rules with these names, to which no other one refers."""
        for name in names:
            del self.rules[name]
            self.lookaheads.pop(name, None)
        self._made = {key: rule for key, rule in self._made.items() if rule.name not in names}

    def repeat(self, item: Node, least: int, most: int | None) -> Node:
        """Returns `item` repeated `least` to `most` times (None: unbounded). `item` should be small, or a Rule."""
        if most is None:
            return sequence(self.exactly(item, least), Repeat(item, 0, None))
        if most <= BLOCK:
            return Repeat(item, least, most) if most else EMPTY
        return sequence(self.exactly(item, least), self._up_to(item, most - least))

    def exactly(self, item: Node, count: int) -> Node:
        """Returns `item` repeated exactly `count` times."""
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
