"""Functions in C++ as statements: `if` with its branches, loops, and all others as text. It isn't a parser of C++, but
of brackets, quotes and these keywords.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from specvino.upstream.described import Unreadable

_LITERAL = r'"(?:[^"\\\n]|\\.)*"' + "|" + r"'(?:[^'\\\n]|\\.)'"
_SKIPPED = re.compile(_LITERAL)
_COMMENT = re.compile(rf"({_LITERAL})|//[^\n]*|/\*.*?\*/", re.DOTALL)


@dataclass(frozen=True, slots=True)
class If:
    """The conditions of branches and their bodies; the last condition may be empty, for `else`."""

    branches: tuple[tuple[str, "Body"], ...]


@dataclass(frozen=True, slots=True)
class Loop:
    head: str
    body: "Body"


Body = tuple["str | If | Loop", ...]


def without_comments(text: str) -> str:
    """Returns a source without comments."""
    return _COMMENT.sub(lambda match: match[1] or "", text)


def body_of(text: str, file: str, name: str) -> str:
    """Returns the body of a function. Raises Unreadable if there is none, or if it has a raw string."""
    for match in re.finditer(rf"\b{name}\(", text):
        start = _end(text, match.end() - 1)
        if body := re.match(r"\s*(?:const )?\{", text[start:]):
            opening = start + body.end() - 1
            inner = text[opening + 1 : _end(text, opening) - 1]
            if re.search(r'\bR"', inner):
                raise Unreadable(f"{file}: {name} has a raw string, which isn't supported")
            return inner
    raise Unreadable(f"{file} has no function {name}")


def _end(text: str, start: int, until: str = "") -> int:
    """Returns the position after the bracket that closes the one at `start`, or after the first of `until` outside of
    brackets."""
    depth, position = 0, start
    while position < len(text):
        if skipped := _SKIPPED.match(text, position):
            position = skipped.end()
            continue
        character = text[position]
        position += 1
        if character in until and not depth:
            return position
        depth += (character in "([{") - (character in ")]}")
        if character in ")]}" and not depth and not until:
            return position
    return position


def statements(text: str) -> Body:
    return tuple(_statements(text))


def _statements(text: str) -> Iterator["str | If | Loop"]:
    position = 0
    while match := re.compile(r"\s*(?:(if|for|while|catch)\s*\(|(try)?\s*\{|;)?").match(text, position):
        if match.end() >= len(text):
            return
        if match[1] == "if":
            statement, position = _if_at(text, match.end() - 1)
            yield statement
        elif match[1]:
            closed = _end(text, match.end() - 1)
            body, position = _block(text, closed)
            yield Loop(text[match.end() : closed - 1].strip(), body)
        elif match[0].endswith("{"):
            body, position = _block(text, match.end() - 1)
            yield Loop("", body)
        elif match[0].endswith(";"):
            position = match.end()
        else:
            position = _end(text, match.end(), until=";")
            yield " ".join(text[match.end() : position - 1].split())


def _block(text: str, start: int) -> tuple[Body, int]:
    """Returns a body, in braces or a single statement, and the position after it."""
    start += len(text[start:]) - len(text[start:].lstrip())
    if text[start] == "{":
        end = _end(text, start)
        return statements(text[start + 1 : end - 1]), end
    if condition := re.match(r"if\s*\(", text[start:]):
        statement, end = _if_at(text, start + condition.end() - 1)
        return (statement,), end
    end = _end(text, start, until=";")
    return statements(text[start:end]), end


def _if_at(text: str, opening: int) -> tuple[If, int]:
    """Returns an `if` with all its branches, whose condition opens at a position, and the position after it."""
    closed = _end(text, opening)
    body, position = _block(text, closed)
    branches = [(" ".join(text[opening + 1 : closed - 1].split()), body)]
    if other := re.match(r"\s*else\b\s*", text[position:]):
        body, position = _block(text, position + other.end())
        branches += body[0].branches if len(body) == 1 and isinstance(body[0], If) else [("", body)]
    return If(tuple(branches)), position


def comparisons(condition: str) -> Iterator[str]:
    """Yields all comparisons and tests of a condition."""
    for operator in ("||", "&&"):
        parts = split(condition, operator)
        if len(parts) > 1:
            for part in parts:
                yield from comparisons(part)
            return
    yield condition


def split(condition: str, operator: str) -> list[str]:
    """Returns the parts of a condition that an operator joins, without brackets around them."""
    parts, start, position, depth = [], 0, 0, 0
    while position < len(condition):
        if skipped := _SKIPPED.match(condition, position):
            position = skipped.end()
            continue
        depth += (condition[position] in "([{") - (condition[position] in ")]}")
        if not depth and condition.startswith(operator, position):
            parts.append(condition[start:position])
            start = position = position + len(operator)
        else:
            position += 1
    parts.append(condition[start:])
    return [_bare(part) for part in parts]


def _bare(condition: str) -> str:
    condition = condition.strip()
    while condition.startswith("(") and _end(condition, 0) == len(condition):
        condition = condition[1:-1].strip()
    return condition
