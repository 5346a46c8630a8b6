"""Routes: which operations are served under the base paths and which at the root, and patterns of their paths."""

import copy
import json
import re
from collections.abc import Callable
from functools import cache
from typing import Any

from specvino.document.loading import ROUTES, read, whole
from specvino.document.operations import base_paths
from specvino.generated.handlers import OPERATIONS, Operation
from specvino.server.dialect import System
from specvino.server.dialect.system import ExtraPath

Routes = dict[str, Any]


def routes(system: System | None, *, keyed: bool) -> list[tuple[str, Routes]]:
    """Returns the documents that Connexion routes by, with their base paths, in the order in which to add them.
    If `keyed`, requests require a key."""
    all_routes: Routes = json.loads(read(ROUTES))
    if not keyed:
        _open(all_routes, lambda _: True)
    if system is not None:
        _open(all_routes, system.is_open)
    below = _only(all_routes, lambda id: system is None or (system.has(id) and not system.at_root(id)))
    root = _only(all_routes, lambda id: OPERATIONS[id].root or (system is not None and system.at_root(id)))
    # A base path that starts with another one has to come before it.
    paths = sorted(system.base_paths if system else base_paths(whole()), key=len, reverse=True)
    by_base = {path: copy.deepcopy(below) for path in paths} | {"": root}
    for extra in system.extra_paths if system else ():
        base = next(path for path in by_base if extra.path.startswith(f"{path}/"))
        _add(by_base[base], all_routes, extra, extra.path.removeprefix(base))
    return list(by_base.items())


def _add(routes: Routes, all_routes: Routes, extra: ExtraPath, path: str) -> None:
    """Adds an operation at an extra path. Operations about the server itself require no key."""
    operation = OPERATIONS[extra.operation]
    definition = all_routes["paths"][operation.path][operation.method.lower()] | {"operationId": extra.id}
    if extra.by_status is not None or extra.by_model is not None:
        definition |= {"security": []}
    routes["paths"].setdefault(path, {})[extra.method.lower()] = definition


def _open(routes: Routes, selects: Callable[[str], bool]) -> None:
    """Removes the key requirement from the operations whose IDs `selects` accepts, in place."""
    for item in routes["paths"].values():
        for operation in item.values():
            if selects(operation["operationId"]):
                operation["security"] = []


def _only(routes: Routes, selects: Callable[[str], bool]) -> Routes:
    """Returns the routes of the operations whose IDs `selects` accepts."""
    paths = {
        path: {method: operation for method, operation in item.items() if selects(operation["operationId"])}
        for path, item in routes["paths"].items()
    }
    return {**routes, "paths": {path: item for path, item in paths.items() if item}}


@cache
def path_pattern(path: str) -> re.Pattern[str]:
    """Returns a pattern of the full request paths for a path of the document, under a base path or at the root."""
    return re.compile(f"({_bases()}|)" + re.sub(r"\\{\w+\\}", "[^/]+", re.escape(path)))


def operation_at(method: str, path: str) -> Operation | None:
    """Returns the operation at a request's path, one with another method if the path doesn't have this one; None for
    unknown paths.
    """
    matching = [operation for operation in OPERATIONS.values() if path_pattern(operation.path).fullmatch(path)]
    return next((operation for operation in matching if operation.method == method), matching[0] if matching else None)


def below_base(path: str) -> str:
    """Returns a request's path without its base path."""
    return re.sub(f"^({_bases()})/", "/", path)


def meant_path(path: str, system: System | None) -> str | None:
    """Returns the path of the operation that a client means whose base path is missing or doubled; None without one."""
    below = re.sub(f"^(?:(?:{_bases()})(?=/))+", "", path)
    known = (operation for operation in OPERATIONS.values() if system is None or system.has(operation.id))
    meant = next((operation for operation in known if path_pattern(operation.path).fullmatch(below)), None)
    if meant is None:
        return None
    first, *_ = system.base_paths if system else base_paths(whole())
    there = below if system and system.at_root(meant.id) else f"{first}{below}"
    return None if there == path else there


# The operations that do what those of Ollama's own API do, by which its clients find their counterpart. The last three
# are served with `--dialect ollama`.
_FOR_OLLAMA = {
    "/api/chat": "/chat/completions",
    "/api/generate": "/completions",
    "/api/ps": "/models",
    "/api/show": "/models",
    "/api/tags": "/models",
}


def for_ollama(path: str, system: System | None) -> str | None:
    """Returns what here does what a path of Ollama's own API does; None for paths that aren't below /api/."""
    below = below_base(path)
    if not below.startswith("/api/"):
        return None
    first, *_ = system.base_paths if system else base_paths(whole())
    if below not in _FOR_OLLAMA:
        return f"OpenAI's API below {first}"
    return (
        f"{first}{_FOR_OLLAMA[below]}"
        if system
        else f"{first}{_FOR_OLLAMA[below]}, or start the server with --dialect ollama"
    )


@cache
def _bases() -> str:
    return "|".join(map(re.escape, sorted(base_paths(whole()), key=len, reverse=True)))
