"""Bounded repetitions of a character, followed by an end, at a cost that is independent of the bounds.

XGrammar computes a mask over the vocabulary for each position in a rule; where any character is allowed, that takes 40
ms for 152,000 tokens. Written out, a string of at most 500 characters has 500 such positions. Here it has one for all
characters except the last WINDOW: a rule of one character, whose lookahead is WINDOW more characters, or fewer and then
the end. As nothing else refers to the rule, XGrammar treats the lookahead as exact and accepts every token that fits
into it at once (`IsExactLookaheadAssertion` in 0.1.31, the version in GenAI 2026.4). A longer token is checked again at
each step. The rules above do the counting; they have no characters and need no mask. Tokens of more than WINDOW
characters aren't accepted there; shorter ones can produce the same text. (Decision 014.)
"""

from collections.abc import Callable, Hashable

from specvino.engine.grammar._ebnf.nodes import (
    BLOCK,
    EMPTY,
    Chars,
    Choice,
    Grammar,
    Node,
    Rule,
    Sequence,
    Text,
    choice,
    sequence,
)

# 800 of Qwen's 152,000 tokens are longer.
WINDOW = 16


def countable(node: Node) -> bool:
    """Returns whether `counted` accepts the node as its character: a choice of texts, without rules and repetitions."""
    match node:
        case Text(text):
            return text != ""
        case Chars():
            return True
        case Sequence(items):
            return all(isinstance(item, Text | Chars) for item in items)
        case Choice(options):
            return all(not isinstance(option, Choice) and countable(option) for option in options)
    return False


def counted(grammar: Grammar, char: Node, least: int, most: int | None, end: Rule | Text) -> Node:
    """Returns `least` to `most` characters (None: unbounded), each of which `char` describes, and then `end`."""
    return _Counted(grammar, char, end).text(least, most)


class _Counted:
    def __init__(self, grammar: Grammar, char: Node, end: Rule | Text) -> None:
        self._grammar = grammar
        self._char = char
        self._options = char.options if isinstance(char, Choice) else (char,)
        self._end = end
        # A token may contain a part of a longer end. The lookahead mustn't contain the end before it is allowed.
        self._short_end = isinstance(end, Text) and len(end.text) == 1

    def text(self, least: int, most: int | None) -> Node:
        if most is None:
            return self._headed(least, least, self._any(), self._any())
        if most <= WINDOW:
            return self._chain(least, most)
        head = min(least, most - WINDOW)
        if head < least:
            rest = self._chain(least - head, WINDOW)
            return self._headed(head, least, rest, rest)
        return self._headed(head, least, self._rest(most - head), self._chain(0, WINDOW))

    def _headed(self, head: int, least: int, rest: Node, lookahead: Node) -> Node:
        """Returns the `head`, a part of the `least` required characters, and then the rest."""
        if head == 0:
            return rest
        named = self._short_end or (self._end != EMPTY and least == 1)
        return sequence(self._grammar.exactly(self._one(lookahead if named else self._window()), head), rest)

    def _any(self) -> Rule:
        """Returns any number of characters."""
        return self._rule("any", (), lambda rule: self._then(rule, ended=True))

    def _chain(self, least: int, most: int) -> Node:
        """Returns a few characters, each with its own position."""
        rest: Node = self._end
        for count in range(1, most + 1):
            left = max(least - most + count, 0)
            rest = self._named("chain", (left, count), self._then(rest, ended=left == 0))
        return rest

    def _rest(self, most: int) -> Node:
        """Returns at most `most` characters, where `most` is at least WINDOW."""
        rest: Node = self._chain(0, WINDOW)
        one = self._one(rest if self._end != EMPTY else self._window())
        # Like the digits of a number: single characters next to the end, before them blocks, and blocks of blocks. At
        # each level another block follows, or the end comes before the block's last character.
        left, size, total, fewer = most - WINDOW, 1, WINDOW, self._end
        while left:
            left, digit = divmod(left, BLOCK)
            block = self._grammar.exactly(one, size)
            for _ in range(digit):
                total += size
                rest = self._named("rest", total, choice(sequence(block, rest), fewer))
            less = fewer
            for count in range(1, BLOCK if left else 0):
                less = self._named("fewer", count * size + size - 1, choice(sequence(block, less), fewer))
            size, fewer = size * BLOCK, less
        return rest

    def _one(self, lookahead: Node) -> Rule:
        """Returns a character that isn't among the last WINDOW, with the lookahead that follows it."""

        def make(_: Rule) -> Node:
            nothing = self._grammar.once("nothing", None, lambda _: EMPTY)
            # Not first in its rule: XGrammar would inline it and lose the lookahead.
            char = self._grammar.add("char", self._char)
            self._grammar.lookaheads[char.name] = lookahead
            return sequence(nothing, char, nothing)

        return self._rule("one", lookahead, make)

    def _window(self) -> Rule:
        """Returns WINDOW characters without an end. They are rules, since XGrammar 0.1.31 misreads sets of characters
        in a lookahead: of the bounds of a set beyond U+00FF it compares the last eight bits only (decision 012)."""
        rest: Node = EMPTY
        for count in range(1, WINDOW + 1):
            rest = self._window_of(count, self._then(rest, ended=False))
        assert isinstance(rest, Rule)
        return rest

    def _window_of(self, count: int, node: Node) -> Rule:
        return self._grammar.once("window", (self._char, count), lambda _: node)

    def _then(self, rest: Node, *, ended: bool) -> Node:
        return choice(*((self._end,) if ended else ()), *(sequence(option, rest) for option in self._options))

    def _named(self, name: str, key: Hashable, node: Node) -> Rule:
        return self._rule(name, key, lambda _: node)

    def _rule(self, name: str, key: Hashable, make: Callable[[Rule], Node]) -> Rule:
        return self._grammar.once(name, (self._char, self._end, key), make)
