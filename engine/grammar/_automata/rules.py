"""An automaton as right-linear rules of a grammar, one for each state.

A state at which most tokens fit costs as much to compile as a free string (decision 014), and an automaton that counts
has many of them. So states that can't be told apart by the next WINDOW characters share one rule for a character, whose
lookahead is what may follow in any of them, as in `counted`.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice

from specvino.engine.grammar._automata.automaton import Automaton, automaton
from specvino.engine.grammar._automata.expressions import Expression, Expressions, Kind, PatternError, TooLarge
from specvino.engine.grammar._ebnf.counted import WINDOW, counted
from specvino.engine.grammar._ebnf.nodes import (
    EMPTY,
    CharNode,
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
from specvino.engine.grammar._ebnf.right_linear import NO_TOKEN, followed, positions
from specvino.engine.grammar._ebnf.size import open_places

MOST_PLACES = 2048  # see right_linear.positions

# Where the length of texts is counted beside an automaton: the states of this, and the rules.
MOST_COUNTED_STATES = 32
MOST_COUNTS = 8192

# Of all automata of a schema together; a grammar may have a few more (size.MOST_OPEN_PLACES).
MOST_OPEN_PLACES = 176


def texts(
    grammar: Grammar, expressions: Expressions, expression: Expression, char: CharNode, end: Rule | Text
) -> Node | None:
    """Returns the texts of an expression, followed by `end`; None if there are none. `char` makes the node of a
    character set. Where an automaton has to count, texts whose counting takes more than MOST_COUNTS rules are left out.
    Raises PatternError.
    """
    try:
        return _texts(grammar, expressions, expression, char, end)
    except RecursionError:
        raise TooLarge("too many optional parts follow one another in it") from None


def _texts(
    grammar: Grammar, expressions: Expressions, expression: Expression, char: CharNode, end: Rule | Text
) -> Node | None:
    if expression == expressions.none:
        return None
    if repeated := expressions.repeated_char(expression):
        chars, least, longest = repeated
        return counted(grammar, char(chars), least, longest, end)
    if not expressions.intersects(expression):
        return followed(grammar, written_out(expressions, expression, char), end)
    uncounted, most = expressions.without_most(expression)
    states = automaton(expressions, uncounted)
    if states is None or (most is not None and states.shortest[0] > most):
        return None
    if most is not None and len(states.states) > MOST_COUNTED_STATES:
        # Near the end, counting takes a rule for each state and number. So many states mostly count themselves.
        with suppress(TooLarge):
            states, most = automaton(expressions, expression), None
    assert states is not None
    known = len(grammar.rules)
    rule = _Writer(grammar, states, char, end).written(most)
    added = dict(islice(grammar.rules.items(), known, None))
    count = open_places(added.values())
    if (total := expressions.open_places + count) > MOST_OPEN_PLACES:
        grammar.remove(added)
        raise TooLarge(
            f"its automaton has {count} states that accept most tokens, {total} with the previous automata; the limit "
            f"is {MOST_OPEN_PLACES}"
        )
    expressions.open_places = total
    return rule


def written_out(expressions: Expressions, expression: Expression, char: CharNode) -> Node:
    """Returns the node of an expression without intersections and complements. Raises PatternError for one with too
    many characters."""
    # How characters are spelled doesn't matter.
    require_few_places(_node(expressions, expression, Chars))
    return _node(expressions, expression, char)


def read(expressions: Expressions, node: Node) -> Expression:
    """Returns the expression of a node of texts, sets, sequences, choices and repetitions."""
    match node:
        case Text(text):
            return expressions.text(text)
        case Chars(ranges):
            return expressions.chars(ranges)
        case Sequence(items):
            return expressions.sequence(*(read(expressions, item) for item in items))
        case Choice(options):
            return expressions.choice(*(read(expressions, option) for option in options))
        case Repeat(item, least, most):
            return expressions.repeat(read(expressions, item), least, most)
    raise TypeError(node)


def require_few_places(node: Node) -> None:
    """Raises PatternError for a node with too many characters."""
    if (count := positions(node)) > MOST_PLACES:
        raise PatternError(
            f"with its repetitions written out it has {count} characters; at most {MOST_PLACES} can be enforced"
        )


def _node(expressions: Expressions, expression: Expression, char: CharNode) -> Node:
    items: list[Node] = []
    rest = expression
    while True:
        match expressions.parts(rest):
            case (Kind.SEQUENCE, first, rest):
                items.append(_node(expressions, first, char))
                continue
            case (Kind.CHARS, chars):
                items.append(char(chars))
            case (Kind.CHOICE, *options):
                items.append(choice(*(_node(expressions, option, char) for option in options)))
            case (Kind.REPEAT, item, least, most):
                items.append(Repeat(_node(expressions, item, char), least, most))
        return sequence(*items)


# A state of the automaton, and how many characters may be left; None if any text from the state is short enough.
_Counted = tuple[int, int | None]

# A set of characters, and the class of the state to which it leads.
_Step = tuple[Ranges, int]


class _Writer:
    def __init__(self, grammar: Grammar, automaton: Automaton, char: CharNode, end: Rule | Text) -> None:
        self._grammar = grammar
        self._automaton = automaton
        self._char = char
        self._end = end
        self._classes = automaton.equivalences(WINDOW)
        self._shared = self._steps_to_share()
        self._shared_counted: set[_Step] = set()
        self._ones: dict[_Step, Rule] = {}
        self._windows: dict[tuple[int, int], Node] = {}
        self._rules: dict[_Counted, Rule] = {}
        self._left: list[tuple[int, Rule]] = []  # states without a longest text, whose rules have no node yet
        # For each state, how many characters must be left so that each text can be completed after WINDOW of them.
        self._window_and_end = [WINDOW + length + 1 for length in _longest_completions(automaton)]
        # The states near the end of a text, whose rules can stand for a window of their class.
        self._near = {
            self._classes[WINDOW][number]: number
            for number, longest in enumerate(automaton.longest)
            if longest is not None and longest <= WINDOW
        }

    def written(self, most: int | None) -> Rule:
        """Returns the rule of the texts with at most so many characters."""
        if most is not None:
            most = min(most, max(MOST_COUNTS // len(self._automaton.states), self._automaton.shortest[0]))
            self._shared_counted = self._counted_steps_to_share(most)
        root = self._rule(0, most)
        for number, rule in self._left:
            self._grammar.rules[rule.name] = self._node(number, None)
        return root

    def _rule(self, number: int, left: int | None) -> Rule:
        state = self._counted(number, left)
        if state in self._rules:
            return self._rules[state]
        if self._longest(state) is not None:
            return self._finite(state)
        rule = self._rules[state] = self._grammar.add("state", EMPTY)
        self._left.append((number, rule))
        return rule

    def _finite(self, state: _Counted) -> Rule:
        """Returns the rule of a state with a longest text. All automata of a grammar share the rules of the same texts,
        such as the ends of two patterns with the same length bound, so a state is written after those that follow it.
        """
        longest = {state: self._longest(state)}
        for number, left in (reached := [state]):
            for _, target, after in self._steps(number, left):
                following = self._counted(target, after)
                if following not in longest and following not in self._rules:
                    longest[following] = self._longest(following)
                    reached.append(following)
        for following in sorted(reached, key=lambda one: longest[one] or 0):
            self._rules[following] = self._known(self._node(*following))
        return self._rules[state]

    def _known(self, node: Node) -> Rule:
        return self._grammar.once("state", node, lambda _: node)

    def _counted(self, number: int, left: int | None) -> _Counted:
        longest = self._automaton.longest[number]
        return number, None if left is not None and longest is not None and longest <= left else left

    def _longest(self, state: _Counted) -> int | None:
        number, left = state
        return self._automaton.longest[number] if left is None else left

    def _steps(self, number: int, left: int | None) -> Iterator[tuple[Ranges, int, int | None]]:
        """Yields the sets of characters that lead on, the states to which they lead, and what may be left there."""
        for chars, target in self._automaton.steps(number):
            after = None if left is None else left - 1
            if after is None or after >= self._automaton.shortest[target]:
                yield chars, target, after

    def _node(self, number: int, left: int | None) -> Node:
        options: list[Node] = [self._end] if self._automaton.states[number].accepting else []
        for chars, target, after in self._steps(number, left):
            options.append(sequence(self._one(chars, target, after), self._rule(target, after)))
        return choice(*options)

    def _one(self, chars: Ranges, target: int, left: int | None) -> Node:
        """Returns a character that leads to a state. It is the same rule wherever the same may follow."""
        if left is not None:
            if left <= self._window_and_end[target] or (chars, target) not in self._shared_counted:
                return self._char(chars)
            return self._once((chars, -1 - target), lambda: self._rule(target, self._window_and_end[target]))
        step = (chars, self._classes[WINDOW][target])
        if step not in self._shared:
            return self._char(chars)
        near = self._near.get(step[1])
        return self._once(step, lambda: self._window(target, WINDOW) if near is None else self._rule(near, None))

    def _once(self, step: _Step, lookahead: Callable[[], Node]) -> Rule:
        if step not in self._ones:
            nothing = self._grammar.once("nothing", None, lambda _: EMPTY)
            # Not first in its rule: XGrammar would inline it and lose the lookahead.
            char = self._grammar.add("char", self._char(step[0]))
            self._grammar.lookaheads[char.name] = lookahead()
            self._ones[step] = self._grammar.add("one", sequence(nothing, char, nothing))
        return self._ones[step]

    def _counted_steps_to_share(self, most: int) -> set[_Step]:
        """Returns the steps, as sets and states, that are taken at many numbers of characters."""
        counts: Counter[_Step] = Counter()
        reached = {0}
        for left in range(most - 1, max(self._window_and_end), -1):
            steps = {step for number in reached for step in self._automaton.steps(number)}
            counts.update(steps)
            reached = {target for _, target in steps if self._automaton.shortest[target] <= left}
        return {step for step, count in counts.items() if count > WINDOW}

    def _steps_to_share(self) -> set[_Step]:
        """Returns the steps whose sharing saves more rules than its windows are."""
        states = self._automaton.states
        counts = Counter(
            (chars, self._classes[WINDOW][target])
            for number in range(len(states))
            for chars, target in self._automaton.steps(number)
        )
        shared = {step for step, count in counts.items() if count > WINDOW}
        saved = sum(counts[step] - 1 for step in shared)
        classes = {target for _, target in shared}
        windows = {(WINDOW, own): number for number, own in enumerate(self._classes[WINDOW]) if own in classes}
        left = list(windows.items())
        for (length, _), number in left:
            for _, target in states[number].steps:
                key = (length - 1, self._classes[length - 1][target])
                if length > 1 and key not in windows:
                    windows[key] = target
                    left.append((key, target))
        return shared if saved > len(windows) else set()

    def _window(self, number: int, length: int) -> Node:
        """Returns what may follow a state: texts of this length, or shorter ones and the end."""
        if length == 0:
            return NO_TOKEN
        key = (length, self._classes[length][number])
        if key not in self._windows:
            rule = self._windows[key] = self._grammar.add("window", EMPTY)
            options: list[Node] = [self._end] if self._automaton.states[number].accepting else []
            for chars, target in self._automaton.steps(number):
                options.append(sequence(self._char(chars), self._window(target, length - 1)))
            self._grammar.rules[rule.name] = choice(*options)
        return self._windows[key]


def _longest_completions(automaton: Automaton) -> list[int]:
    """Returns, for each state, the maximum length of the shortest texts from the states that it reaches."""
    lengths = list(automaton.shortest)
    changed = True
    while changed:
        changed = False
        for number in reversed(range(len(lengths))):
            longest = max((lengths[target] for _, target in automaton.states[number].steps), default=0)
            if longest > lengths[number]:
                lengths[number] = longest
                changed = True
    return lengths
