"""Wrong servers. Each module has classes that override exactly one method of `Faux`, and say what that breaks."""

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules

from specvino.conformance.faux.server import Faux


def all_defects() -> Iterator[type[Faux]]:
    """The classes of this package's modules, in the order of their modules."""
    for module in iter_modules(__path__):
        for value in vars(import_module(f"{__name__}.{module.name}")).values():
            if isinstance(value, type) and issubclass(value, Faux) and value.__module__ == f"{__name__}.{module.name}":
                yield value
