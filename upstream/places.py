"""The source lines of names in a system's sources: by file, the lines and their hash, such as `120-124 9f2c01aa`.

The hash is of the lines without their indentation, so it tells whether a new version has other ones, wherever they are.
"""

import ast
import hashlib
import re
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from specvino.upstream.described import Places, Unreadable
from specvino.upstream.modules import Module

_QUOTED = re.compile(r'\\?"([A-Za-z_]\w*)(?:\\?"|,)')


def digest(lines: Iterable[str]) -> str:
    """Returns the hash of lines: 8 hexadecimal digits."""
    return hashlib.sha256("\n".join(line.strip() for line in lines).encode()).hexdigest()[:8]


def of_node(module: Module, node: ast.stmt | ast.expr) -> str:
    """Returns the lines of a statement, with its decorators, or of an expression, and their hash."""
    decorators = node.decorator_list if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) else ()
    first = min(node.lineno, *(mark.lineno for mark in decorators)) if decorators else node.lineno
    last = node.end_lineno or first
    where = str(first) if first == last else f"{first}-{last}"
    return f"{where} {digest(_lines(module.path)[first - 1 : last])}"


@cache
def _lines(path: Path) -> Sequence[str]:
    return path.read_text("utf-8").splitlines()


def quoted(source: Path, files: Iterable[str]) -> Places:
    """Returns the quoted names in files below `source`, such as `doc.FindMember("seed")` in C++ or `json:"seed"` in Go,
    each with the lines that have it. Raises Unreadable if there is no such file.
    """
    result: Places = {}
    for file in files:
        try:
            lines = (source / file).read_text("utf-8").splitlines()
        except OSError as error:
            raise Unreadable(f"{source / file} can't be read: {error.strerror}") from None
        numbers: dict[str, list[int]] = {}
        for number, line in enumerate(lines, 1):
            for name in dict.fromkeys(_QUOTED.findall(line)):
                numbers.setdefault(name, []).append(number)
        result[file] = {
            name: f"{','.join(map(str, line_numbers))} {digest(lines[number - 1] for number in line_numbers)}"
            for name, line_numbers in numbers.items()
        }
    return result
