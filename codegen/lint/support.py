"""Every field says how each system supports it, and nothing else is said."""

from collections.abc import Iterator
from typing import Any

import jsonschema_rs

from specvino.codegen.fields import Field, fields
from specvino.codegen.lint.problem import Problem
from specvino.codegen.merge import LEVELS, support_of
from specvino.codegen.spec import Spec

SYSTEMS = ("openai", "ovms", "vllm", "mlc-llm", "fastdeploy")
HEADER = ("name", "port", "base_paths", "auth", "errors", "stream", "unknown_fields", "fields")


def dialects(spec: Spec) -> Iterator[Problem]:
    """There is one file for each system, and its top-level keys are known ones."""
    for system in SYSTEMS:
        if system not in spec.dialects:
            yield Problem("dialects", system, f"openapi/dialects/{system}.yaml does not exist")
    for system, dialect in spec.dialects.items():
        if system not in SYSTEMS:
            yield Problem("dialects", system, f"is not one of {', '.join(SYSTEMS)}")
        for key in dialect:
            if key not in HEADER:
                yield Problem("dialects", system, f"{key!r} is not a known key; known are {', '.join(HEADER)}")


def complete(spec: Spec) -> Iterator[Problem]:
    """Every field has an entry in every dialect, with a level that its part of the exchange knows."""
    for field in fields(spec.document):
        for system, dialect in spec.dialects.items():
            entry = support_of(field, dialect)
            place = f"{system} {field.name}"
            if entry is None:
                yield Problem("support", place, f"needs a level: {', '.join(LEVELS[field.part])}")
            else:
                yield from _entry(place, field, entry)


def surplus(spec: Spec) -> Iterator[Problem]:
    """Every entry is about a field that exists."""
    known = {(field.endpoint, field.part, field.path) for field in fields(spec.document)}
    for system, dialect in spec.dialects.items():
        for endpoint, parts in dialect.get("fields", {}).items():
            for part, paths in parts.items():
                for path in paths:
                    if (endpoint, part, path) not in known:
                        yield Problem("support", f"{system} {endpoint} {part} {path}", "there is no such field")


def _entry(place: str, field: Field, entry: dict[str, Any]) -> Iterator[Problem]:
    level = entry.get("level")
    if level not in LEVELS[field.part]:
        yield Problem("support", place, f"the level {level!r} is not one of {', '.join(LEVELS[field.part])}")
    if level == "partial" and not entry.get("note"):
        yield Problem("support", place, "partial needs a note that says what is missing")
    for key in entry.keys() - {"level", "accepts", "note"}:
        yield Problem("support", place, f"{key!r} is not known (a text with a comma needs quotes inside {{…}})")
    if "accepts" in entry and not (
        isinstance(entry["accepts"], dict) and jsonschema_rs.meta.is_valid(entry["accepts"])
    ):
        yield Problem("support", place, "accepts is not a valid JSON Schema")
