"""The documents that `python -m specvino.codegen` generates: ours, and one per system."""

import json
from functools import cache
from importlib.resources import files
from typing import Any

from specvino.document.conditions import Conditions, Group
from specvino.document.system_fields import system_name
from specvino.document.transforms import to_31
from specvino.document.validator import Validators

OPENAPI_32 = "openapi.json"
"""The complete document, with every field of this project."""

VOCABULARY = "vocabulary.json"
"""The JSON Schemas of the document's own keywords."""

DIFFERENCES = "differences.json"
"""The deliberate differences between this server's answers and those of other systems, by system."""

CONDITIONS = "conditions.json"
"""The conditions that servers check in addition to the schemas, by endpoint."""

FILES = "files.json"
"""The file below openapi/ that defines a schema, by component."""

ROUTES = "routes.json"
"""The OpenAPI 3.0 skeleton for Connexion's routing."""


@cache
def load(name: str) -> dict[str, Any]:
    """Returns a document by its file name, such as `openapi.json` or the result of `dialect_file`.

    It is parsed once, so callers must copy it before they change it. Raises FileNotFoundError.
    """
    loaded: dict[str, Any] = json.loads(read(name))
    return loaded


WHOLE = "specvino"
"""The name of this project's own API beside those of the systems."""


def whole() -> dict[str, Any]:
    """Returns the document of this project, as OpenAPI 3.2."""
    return load(OPENAPI_32)


@cache
def validators() -> Validators:
    """Returns the validators of this project's document."""
    return Validators(whole())


@cache
def lowered() -> dict[str, Any]:
    """Returns the document of this project as OpenAPI 3.1, for tools that can't read 3.2.

    It shares most parts with `whole()`, so it costs a tenth of a millisecond. Callers must copy it before they change
    it.
    """
    return to_31(whole())


def read(name: str) -> str:
    """Returns the text of a document's file. Raises FileNotFoundError."""
    return files("specvino.generated").joinpath(*name.split("/")).read_text("utf-8")


def dialect_file(system: str) -> str:
    """Returns the file name of the OpenAPI 3.1 document of a system, or of an older version, such as `vllm@0.29`."""
    return f"dialects/{system}.json"


def systems() -> tuple[str, ...]:
    """Returns the systems that have documents of their own, sorted by name."""
    return tuple(name for name in dialects() if name == system_name(name))


@cache
def dialects() -> tuple[str, ...]:
    """Returns the systems and, as SYSTEM@VERSION, their older versions that have documents, sorted by name."""
    folder = files("specvino.generated") / "dialects"
    # Without it, for example before the first run of codegen, commands that need no system still work.
    documents = folder.iterdir() if folder.is_dir() else ()
    return tuple(sorted(file.name.removesuffix(".json") for file in documents if file.name.endswith(".json")))


@cache
def conditions_of(endpoint: str) -> Conditions:
    """Returns the conditions that a server checks for an endpoint, such as `chat`, in addition to its schema."""
    return Conditions(load(CONDITIONS)["endpoints"].get(endpoint, {}))


@cache
def group(name: str) -> Group:
    """Returns a group of fields of `openapi/conditions.yaml`, such as `token_limits`."""
    return Group(load(CONDITIONS)["groups"][name])
