"""Conversion of Lark grammars into nodes: the texts that a grammar derives, without Lark's lexer.

Lark's lexer takes the longest terminal that fits, so it may read a text in another way than the rules derive it:
`a: "if" NAME` derives `ifx`, which the lexer takes for one NAME.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from typing import Any

from specvino.engine.grammar._automata.expressions import PatternError
from specvino.engine.grammar._automata.patterns import terminal
from specvino.engine.grammar._automata.rules import require_few_places
from specvino.engine.grammar._ebnf import ranges
from specvino.engine.grammar._ebnf.nodes import (
    EMPTY,
    Chars,
    Choice,
    Grammar,
    Node,
    Repeat,
    Rule,
    Sequence,
    Text,
    choice,
    sequence,
)
from specvino.engine.grammar._ebnf.ranges import Ranges
from specvino.engine.grammar._ebnf.right_linear import followed, positions
from specvino.engine.grammar._ebnf.size import open_places, require_few_rules
from specvino.engine.grammar._from_lark.definitions import Definition, Definitions, Expansions, LarkError, read

START = "start"

# A definition that is used several times is written out in each place if it has at most this many characters.
_WRITTEN_OUT = 64

# Parts of all expansions, written out.
MOST_PARTS = 4000
MOST_REPEATED = 512
_MOST_DIGITS = 6

CharNode = Callable[[Ranges], Node]


def lark(text: str, grammar: Grammar, char: CharNode, end: Text) -> Node:
    """Returns the texts of a Lark grammar's rule `start`, followed by `end`. `char` makes the node of a character set.

    Raises LarkError for an invalid grammar, and PatternError for one that can't be enforced; then nothing is added to
    `grammar`.
    """
    conversion = _Conversion(read(text), grammar, char)
    try:
        node = conversion.start()
        for body in (node, *conversion.bodies.values()):
            require_few_places(body)
        _require_filled(conversion.bodies, node)
    except (LarkError, PatternError, RecursionError):
        for name in conversion.bodies:
            del grammar.rules[name]
        raise
    for name, body in conversion.bodies.items():
        grammar.rules[name] = followed(grammar, body, EMPTY)
        require_few_rules(grammar, ())
    return followed(grammar, node, end)


class _Conversion:
    def __init__(self, definitions: Definitions, grammar: Grammar, char: CharNode) -> None:
        self._definitions = definitions
        self._grammar = grammar
        self._char = char
        self._nodes: dict[int, Node] = {}
        self._rules: dict[int, Rule] = {}
        self._open: list[int] = []
        self._parts = 0
        self._uses: Counter[int] = Counter()
        self._ignored: Node = EMPTY
        self.bodies: dict[str, Node] = {}
        """The rules that were added to the grammar, which are empty there so far."""

    def start(self) -> Node:
        """Returns the node of the rule `start`."""
        start = self._definitions.find(START, by_terminal=False)
        self._count(start)
        if self._definitions.ignored:
            options = [self._node(tree, self._definitions, in_terminal=True) for tree in self._definitions.ignored]
            self._ignored = _repeated(choice(*options), 0, None)
            if open_places([self._ignored]):  # it follows every terminal
                self._ignored = self._rule("ignored", self._ignored)
        return sequence(self._ignored, self._defined(start))

    def _count(self, definition: Definition) -> None:
        """Counts the places where each definition is used. Raises LarkError, and PatternError."""
        left = [definition]
        seen: set[int] = set()
        while left:
            used = left.pop()
            if used.is_template:
                raise PatternError(f"the template {used.name} can't be enforced")
            self._uses[id(used)] += 1
            if id(used) in seen:
                continue
            seen.add(id(used))
            if any(used.expansions.find_data("template_usage")):
                raise PatternError("templates can't be enforced")
            names = used.expansions.find_data("name")
            left += (used.scope.find(str(tree.children[0]), by_terminal=used.is_terminal) for tree in names)

    def _defined(self, definition: Definition) -> Node:
        key = id(definition)
        if key in self._nodes:
            return self._nodes[key]
        if key in self._open:
            if definition.is_terminal:
                raise LarkError(f"the terminal {definition.name} refers to itself")
            if key not in self._rules:
                self._rules[key] = self._rule(definition.name, EMPTY)
            return self._rules[key]
        self._open.append(key)
        node = self._node(definition.expansions, definition.scope, in_terminal=definition.is_terminal)
        self._open.pop()
        if rule := self._rules.get(key):
            self.bodies[rule.name] = node
            node = rule
        elif self._uses[key] > 1 and positions(node) > _WRITTEN_OUT:
            node = self._rule(definition.name, node)
        self._nodes[key] = node
        return node

    def _rule(self, name: str, body: Node) -> Rule:
        rule = self._grammar.add(f"lark_{name[:32].lower()}", EMPTY)
        self.bodies[rule.name] = body
        return rule

    def _node(self, tree: Expansions, scope: Definitions, *, in_terminal: bool) -> Node:
        self._parts += 1
        if self._parts > MOST_PARTS:
            raise PatternError(f"it has more than {MOST_PARTS} parts")

        def node(child: Any) -> Node:
            return self._node(child, scope, in_terminal=in_terminal)

        match tree.data:
            case "expansions":
                return choice(*map(node, tree.children))
            case "expansion":
                return sequence(*map(node, tree.children))
            case "alias":  # the name of a tree
                return node(tree.children[0])
            case "maybe":
                return choice(node(tree.children[0]), EMPTY)
            case "expr":
                item, *operator = tree.children
                return _repeated(node(item), *_bounds(operator))
            case "name":
                definition = scope.find(str(tree.children[0]), by_terminal=in_terminal)
                if in_terminal and not definition.is_terminal:
                    raise LarkError(f"a terminal can't refer to the rule {definition.name}")
                defined = self._defined(definition)
                return sequence(defined, self._ignored) if definition.is_terminal and not in_terminal else defined
            case "literal" | "literal_range":
                text = self._terminal(*map(str, tree.children))
                return text if in_terminal else sequence(text, self._ignored)
        raise PatternError(f"{str(tree.data).replace('_', ' ')} can't be enforced")

    def _terminal(self, first: str, last: str | None = None) -> Node:
        if last is not None:
            low, high = _unquoted(first), _unquoted(last)
            if len(low) != 1 or len(high) != 1 or low > high:
                raise LarkError(f"{first}..{last} isn't a range of characters")
            return self._char(ranges.common(((ord(low), ord(high)),), ranges.ANY))
        if first.startswith("/"):
            expression, _, flags = first[1:].rpartition("/")
            if flags.strip("u"):
                raise PatternError(f"the flags of {first} can't be enforced")
            return _with_filled_repetitions(terminal(expression, self._char))
        ignores_case = first.endswith("i")
        text = _unquoted(first.removesuffix("i"))
        return sequence(*(self._one(char, ignores_case) for char in text))

    def _one(self, char: str, ignores_case: bool) -> Node:
        cases = {char, char.lower(), char.upper()} if ignores_case else {char}
        node = self._char(ranges.of("".join(case for case in cases if len(case) == 1)))
        return Text(char) if node == Chars(ranges.of(char)) else node


_ESCAPE = re.compile(r'\\(?:([nftr"\\])|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([xuU]))')
_CONTROLS = {"n": "\n", "f": "\f", "t": "\t", "r": "\r"}


def _unquoted(string: str) -> str:
    """Returns the text of a string. As in Lark, a backslash before any other character stands for itself."""

    def character(escape: re.Match[str]) -> str:
        letter, *codes, begun = escape.groups()
        if begun:
            raise LarkError(f"the string {string} has an invalid escape")
        if letter:
            return _CONTROLS.get(letter, letter)
        code = int("".join(filter(None, codes)), 16)
        if not any(low <= code <= high for low, high in ranges.ANY):
            raise LarkError(f"{escape[0]} isn't a character")
        return chr(code)

    return _ESCAPE.sub(character, string[1:-1])


def _bounds(operator: list[Any]) -> tuple[int, int | None]:
    match [str(part) for part in operator]:
        case ["?"]:
            return 0, 1
        case ["*"]:
            return 0, None
        case ["+"]:
            return 1, None
        case numbers if max(map(len, numbers)) > _MOST_DIGITS:
            raise PatternError(f"at most {MOST_REPEATED} repetitions can be enforced")
        case [least]:
            bounds = int(least), int(least)
        case [least, most]:
            bounds = int(least), int(most)
    if not 0 <= bounds[0] <= bounds[1]:
        raise LarkError(f"~{bounds[0]}..{bounds[1]} isn't a number of repetitions")
    if bounds[1] > MOST_REPEATED:
        raise PatternError(f"a repetition of {bounds[1]}: at most {MOST_REPEATED} can be enforced")
    return bounds


def _repeated(item: Node, least: int, most: int | None) -> Node:
    """Returns a repetition whose item isn't empty, as the nodes require."""
    if _may_be_empty(item):
        least = 0
    filled = _filled(item)
    if filled is None or most == 0:
        return EMPTY
    match filled:
        case Repeat(inner, 1, None) if most is None:  # a repetition of this repetition would be ambiguous
            return Repeat(inner, min(least, 1), None)
    return Repeat(filled, least, most)


def _may_be_empty(node: Node, rules: Collection[str] = ()) -> bool:
    """Returns whether a node allows the empty text, as these rules do."""
    match node:
        case Text(text):
            return not text
        case Rule(name):
            return name in rules
        case Sequence(items):
            return all(_may_be_empty(item, rules) for item in items)
        case Choice(options):
            return any(_may_be_empty(option, rules) for option in options)
        case Repeat(item, least):
            return least == 0 or _may_be_empty(item, rules)
    return False


def _filled(node: Node) -> Node | None:
    """Returns the texts of a node except for the empty one; None if there are no others."""
    if not _may_be_empty(node):
        return node
    match node:
        case Choice(options):
            filled = [left for option in options if (left := _filled(option)) is not None]
            return choice(*filled) if filled else None
        case Repeat(item, _, most):
            return Repeat(item, 1, most)
        case Sequence(items):
            # The first item that isn't empty is followed by the others as they are.
            beginnings = [
                sequence(left, *items[index + 1 :])
                for index, item in enumerate(items)
                if (left := _filled(item)) is not None
            ]
            return choice(*beginnings) if beginnings else None
    return None


def _with_filled_repetitions(node: Node) -> Node:
    match node:
        case Repeat(item, least, most):
            return _repeated(_with_filled_repetitions(item), least, most)
        case Sequence(items):
            return sequence(*map(_with_filled_repetitions, items))
        case Choice(options):
            return choice(*map(_with_filled_repetitions, options))
    return node


def _require_filled(bodies: Mapping[str, Node], node: Node) -> None:
    """Raises PatternError for the repetition of a rule that refers to itself and may be empty."""
    empty: set[str] = set()
    while more := {name for name, body in bodies.items() if _may_be_empty(body, empty)} - empty:
        empty |= more
    left = [node, *bodies.values()]
    while left:
        match left.pop():
            case Repeat(item):
                if _may_be_empty(item, empty):
                    raise PatternError(
                        "the repetition of a rule that refers to itself and may be empty can't be enforced"
                    )
                left.append(item)
            case Sequence(items) | Choice(items):
                left += items
