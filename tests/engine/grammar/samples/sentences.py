"""Random texts of a grammar."""

import random

from specvino.engine.grammar._ebnf.finite_texts import length, lengths
from specvino.engine.grammar._ebnf.nodes import Chars, Choice, Grammar, Node, Repeat, Rule, Sequence, Text, Until


def sentence(grammar: Grammar, draw: random.Random, most_steps: int = 3000) -> str:
    """Returns a random text. After `most_steps` it takes the shortest way to the end."""
    known = lengths(grammar)
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
