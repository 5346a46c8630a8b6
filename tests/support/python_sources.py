"""Packages of a few lines, to read."""

from pathlib import Path
from textwrap import dedent
from typing import Any

from specvino.upstream.classes import Classes, Reading
from specvino.upstream.modules import Sources

_IMPORTS = """
from dataclasses import dataclass, field
from enum import Enum
from typing import Annotated, Any, ClassVar, Dict, List, Literal, NotRequired, Optional, Required, TypedDict, Union
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, RootModel, StringConstraints, constr
from pydantic import field_validator, model_validator
"""


def package(folder: Path, name: str, files: dict[str, str]) -> Path:
    """Writes the files of a package, and an __init__.py into each folder that has none."""
    package_folder = folder / name
    for file, source in {"__init__.py": "", **files}.items():
        path = package_folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(source), "utf-8")
        (path.parent / "__init__.py").touch()
    return package_folder


class Read:
    """The classes of a module that imports what such modules do."""

    def __init__(self, folder: Path, source: str, reading: Reading = Reading.TAKEN) -> None:
        package_folder = package(folder, "server", {"protocol.py": _IMPORTS + dedent(source)})
        self.classes = Classes(Sources({"server": package_folder}), reading)

    def schema(self, name: str) -> dict[str, Any]:
        """The schema of a class, not the reference to it, or of a type with a name."""
        schema = self.classes.named("server/protocol.py", name)
        return self.classes.schemas[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema

    def property(self, name: str, field: str) -> dict[str, Any]:
        property_schema: dict[str, Any] = self.schema(name)["properties"][field]
        return property_schema
