"""The documents that `python -m specvino.codegen` makes: ours, and that of each system."""

import json
from functools import cache
from importlib.resources import files
from typing import Any

from specvino.document.conditions import Conditions, Group
from specvino.document.transforms import to_31

OPENAPI_32 = "openapi.json"
"""The whole document, with every field that this project knows."""

VOCABULARY = "vocabulary.json"
"""The JSON Schemas of the document's own keywords."""

DIFFERENCES = "differences.json"
"""The rules by which this server answers otherwise than other systems, by system."""

CONDITIONS = "conditions.json"
"""The conditions that servers check beside the schemas, by endpoint."""

ROUTES = "routes.json"
"""The skeleton of OpenAPI 3.0 that Connexion routes by."""


@cache
def load(name: str) -> dict[str, Any]:
    """Returns a document by the name of its file, such as `openapi.json` or what `dialect_file` returns.

    It is parsed once: whoever changes it must copy it. Raises FileNotFoundError.
    """
    loaded: dict[str, Any] = json.loads(read(name))
    return loaded


def whole() -> dict[str, Any]:
    """Returns the document of this project, as OpenAPI 3.2."""
    return load(OPENAPI_32)


@cache
def lowered() -> dict[str, Any]:
    """Returns the document of this project as OpenAPI 3.1, for tools that read nothing newer.

    It shares most parts with `whole()`, so it takes a tenth of a millisecond; whoever changes it must copy it.
    """
    return to_31(whole())


def read(name: str) -> str:
    """Returns the file of a document as it is. Raises FileNotFoundError."""
    return files("specvino.generated").joinpath(*name.split("/")).read_text("utf-8")


def dialect_file(system: str) -> str:
    """Returns the name of the file with the OpenAPI 3.1 document of a system."""
    return f"dialects/{system}.json"


@cache
def systems() -> tuple[str, ...]:
    """Returns the systems that have documents of their own, in the order of their names."""
    folder = files("specvino.generated") / "dialects"
    # Without it, as before the first run of codegen, commands that need no system go on working.
    found = folder.iterdir() if folder.is_dir() else ()
    return tuple(sorted(each.name.removesuffix(".json") for each in found if each.name.endswith(".json")))


@cache
def conditions_of(endpoint: str) -> Conditions:
    """Returns the conditions that a server checks for an endpoint, such as `chat`, beside its schema."""
    return Conditions(load(CONDITIONS)["endpoints"].get(endpoint, {}))


@cache
def group(name: str) -> Group:
    """Returns a group of fields of `openapi/conditions.yaml`, such as `token_limits`."""
    return Group(load(CONDITIONS)["groups"][name])
