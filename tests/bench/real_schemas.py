"""Schemas such as applications send them, for measuring what each costs."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from specvino.document import yaml_text

_FOLDER = Path(__file__).with_name("schemas")


def real_schemas() -> Iterator[tuple[str, dict[str, Any]]]:
    """Each schema under its name, which begins with that of its kind: `mcp_tools/fetch-url`."""
    for path in sorted(_FOLDER.glob("*.yaml")):
        schemas: dict[str, dict[str, Any]] = yaml_text.load(path.read_text("utf-8"))
        for name, schema in schemas.items():
            yield f"{path.stem}/{name}", schema
