"""The API reference: a page of its own for each system, with its document inside, so that it opens from the disk."""

from collections.abc import Iterator
from importlib.resources.abc import Traversable
from typing import Any

from specvino.generated.systems import SYSTEMS
from specvino.portal.pages.page import Page
from specvino.portal.reference import ASSETS, HERE, page
from specvino.portal.source import Source


def pages(source: Source) -> Iterator[Page]:
    yield _page("specvino", "Specvino", source.document)
    for system, name in SYSTEMS.items():
        yield _page(system, name, source.dialect(system))


def assets() -> Iterator[Traversable]:
    """Yields the files that stand beside the pages."""
    return (HERE / name for name in ASSETS)


def _page(system: str, name: str, document: dict[str, Any]) -> Page:
    return Page(f"reference/{system}.html", name, page(f"{name}: API reference", "", document))
