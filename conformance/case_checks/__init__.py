"""Checks of cases that steps can't express: functions that send several requests and compare the answers.

A check is `async def name(session: Session, endpoint: str, **arguments)`. It raises Failed if the server breaks the
rule, and NotExercised if the answers don't show it. A case has the name of its check, and the arguments as data.
"""

from collections.abc import Awaitable, Callable
from functools import cache
from importlib import import_module
from inspect import iscoroutinefunction
from pkgutil import iter_modules
from typing import Any

from specvino.conformance.session.session import Session

Check = Callable[..., Awaitable[None]]


@cache
def all_checks() -> dict[str, Check]:
    """Returns all checks by name: the public coroutine functions of this package's modules."""
    checks: dict[str, Check] = {}
    for module in iter_modules(__path__):
        content: dict[str, Any] = vars(import_module(f"{__name__}.{module.name}"))
        for name, value in content.items():
            if iscoroutinefunction(value) and value.__module__ == f"{__name__}.{module.name}" and name[0] != "_":
                checks[name] = value
    return checks


__all__ = ["Check", "Session", "all_checks"]
