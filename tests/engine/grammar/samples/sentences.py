"""Random texts of a grammar."""

import random
from collections.abc import Iterator, Mapping

from specvino.engine.grammar._ebnf.finite_texts import length, lengths
from specvino.engine.grammar._ebnf.nodes import Chars, Choice, Grammar, Node, Repeat, Rule, Sequence, Text, Until


def sentences(grammar: Grammar, count: int, most_steps: int = 3000) -> Iterator[str]:
    """Yields random texts. After `most_steps` a text takes the shortest way to the end."""
    known = lengths(grammar)
    return (_sentence(grammar, known, random.Random(seed), most_steps) for seed in range(count))


def _sentence(grammar: Grammar, known: Mapping[str, int], draw: random.Random, most_steps: int) -> str:
    texts: list[str] = []
    left: list[Node] = [Rule("root")]
    steps = 0
    while left:
        steps += 1
        hurry = steps > most_steps
        match left.pop():
            case Text(text) | Until(text):
                texts.append(text)
            case Chars(ranges):
                low, high = draw.choice(ranges)
                texts.append(chr(draw.choice((low, high, draw.randint(low, high)))))
            case Rule(name):
                left.append(grammar.rules[name])
            case Sequence(items):
                left += reversed(items)
            case Choice(options):
                sizes = [(length(option, known) or 0, index) for index, option in enumerate(options)]
                left.append(options[min(sizes)[1] if hurry else draw.randrange(len(options))])
            case Repeat(item, least, most):
                extra = 0 if hurry else draw.choice((0, 1, 2, 50)) if most is None else draw.randint(0, most - least)
                left += [item] * (least + extra)
    return "".join(texts)
