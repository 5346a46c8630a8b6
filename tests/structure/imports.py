"""Who imports whom, read from the source: modules, and the folders that hold them."""

import ast
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

PROJECT = Path(__file__).parents[2]
PACKAGE = "specvino"
FOLDERS = sorted(path.parent.name for path in PROJECT.glob("*/__init__.py"))
"""The code folders, each a subpackage of `specvino`."""

Graph = dict[str, set[str]]


@cache
def modules() -> dict[str, Path]:
    """The dotted name of each module of the product, without `specvino.`, with its file."""
    files = (path for folder in FOLDERS for path in sorted((PROJECT / folder).rglob("*.py")))
    return {_name(path): path for path in files if (path.parent / "__init__.py").exists()}


def _name(path: Path) -> str:
    parts = path.relative_to(PROJECT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(source: str) -> Iterator[str]:
    """The names that a module imports from the product: modules, or what is in one. Raises ValueError for a relative
    import, whose module the source alone doesn't say."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.level:
            raise ValueError(f"a relative import in line {node.lineno}: name the whole module")
        if isinstance(node, ast.Import):
            names: Iterable[str] = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        yield from (name.removeprefix(f"{PACKAGE}.") for name in names if name.startswith(f"{PACKAGE}."))


def between(rooms: Mapping[str, str]) -> Graph:
    """Which room imports which, where `rooms` gives the room of each module. Modules without a room are passed over."""
    graph: Graph = {room: set() for room in rooms.values()}
    files = modules()
    for module, room in rooms.items():
        for name in imported(files[module].read_text("utf-8")):
            target = rooms.get(name) or rooms.get(name.rpartition(".")[0])
            if target and target != room:
                graph[room].add(target)
    return graph


def folders() -> Graph:
    """Which top-level folder imports which; `docs` has no code."""
    return between({module: module.partition(".")[0] for module in modules() if module != "docs"})


def rooms_of(folder: str, *opened: str) -> Graph:
    """Which part of a folder imports which, by their names in it; its own modules are one part, named like the folder.

    A part in `opened` (`openvino`) shows its own parts instead of itself.
    """

    def room(module: str) -> str:
        packages = [part for part in _package(module).split(".")[1:] if part]
        depth = 2 if packages and packages[0] in opened else 1
        return "/".join(packages[:depth]) or folder

    return between({module: room(module) for module in modules() if module.split(".")[0] == folder})


def _package(module: str) -> str:
    """The package that a module is, or is in."""
    return module if modules()[module].name == "__init__.py" else module.rpartition(".")[0]


def reduced(graph: Graph) -> Graph:
    """The arrows that no other way through the graph says already; arrows within a circle all stay."""

    def reachable(start: str, without: str) -> set[str]:
        seen: set[str] = set()
        waiting = list(graph[start] - {without})
        while waiting:
            node = waiting.pop()
            if node not in seen and node != start:
                seen.add(node)
                waiting.extend(graph[node])
        return seen

    return {a: {b for b in targets if b not in reachable(a, b)} for a, targets in graph.items()}
