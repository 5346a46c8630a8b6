"""A grammar in XGrammar's notation."""

from specvino.engine.grammar.nodes import Chars, Choice, Grammar, Node, Repeat, Rule, Sequence, Text


def render(grammar: Grammar) -> str:
    return "".join(f"{name} ::= {_node(node)}\n" for name, node in grammar.rules.items())


def _node(node: Node) -> str:
    match node:
        case Text(text):
            return '"' + "".join(map(_char, text)) + '"'
        case Chars(ranges):
            return "[" + "".join(_range(low, high) for low, high in ranges) + "]"
        case Rule(name):
            return name
        case Sequence(items):
            return "(" + " ".join(map(_node, items)) + ")"
        case Choice(options):
            return "(" + " | ".join(map(_node, options)) + ")"
        case Repeat(item, least, most):
            return f"({_node(item)}){_times(least, most)}"


def _times(least: int, most: int | None) -> str:
    if most is None:
        return "*" if least == 0 else f"{{{least},}}"
    return f"{{{least}}}" if least == most else f"{{{least},{most}}}"


def _range(low: int, high: int) -> str:
    return _char(chr(low)) if low == high else f"{_char(chr(low))}-{_char(chr(high))}"


def _char(char: str) -> str:
    if char.isascii() and (char.isalnum() or char in " _:,{}"):
        return char
    return f"\\u{ord(char):04x}" if ord(char) <= 0xFFFF else f"\\U{ord(char):08x}"
