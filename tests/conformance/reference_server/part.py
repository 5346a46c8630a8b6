"""What the server is made of."""

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from reference_server.http import Route
    from reference_server.server import ReferenceServer


class Part:
    """A part of the server, which finds the others by `server`. Each of its methods has one idea, so that a mutant can
    override just one."""

    routes: ClassVar["tuple[Route, ...]"] = ()
    """The operations that it answers."""
    breaks: ClassVar[set[str]] = set()
    """Of a mutant: the rules that it is there for, or patterns of which it breaks every rule."""
    faults: ClassVar[int] = 1
    """Of a mutant: how many faults a report has at most, of what is tried."""
    advised: ClassVar[bool] = False
    """Of an oddity: whether it gets advice."""
    beside: ClassVar["tuple[type[Part], ...]"] = ()
    """Of an oddity: the other parts of its server."""

    def __init__(self, server: "ReferenceServer") -> None:
        self.server = server


def parts_of(package: ModuleType) -> Iterator[type[Part]]:
    """Yields the public classes of a package's modules, in the order of their modules."""
    for module in iter_modules(package.__path__):
        name = f"{package.__name__}.{module.name}"
        for value in vars(import_module(name)).values():
            is_own = isinstance(value, type) and issubclass(value, Part) and value.__module__ == name
            if is_own and not value.__name__.startswith("_"):
                yield value
