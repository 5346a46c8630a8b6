"""Wrong servers. Each module has classes that override exactly one method of a part of the reference server."""

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules

from reference_server.part import Part


def all_mutants() -> Iterator[type[Part]]:
    """The classes of this package's modules, in the order of their modules."""
    for module in iter_modules(__path__):
        for value in vars(import_module(f"{__name__}.{module.name}")).values():
            if isinstance(value, type) and issubclass(value, Part) and value.__module__ == f"{__name__}.{module.name}":
                yield value
