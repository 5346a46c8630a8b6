"""Says in a sentence where a value breaks a schema."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import jsonschema_rs

LONGEST = 160
"""Characters of a value that are shown."""


class Shape:
    """A schema of a document, in which `#/components/…` may be referred to."""

    def __init__(self, schema: Mapping[str, Any], document: Mapping[str, Any] | None = None) -> None:
        components = {"components": document["components"]} if document else {}
        self._validator = jsonschema_rs.Draft202012Validator({**schema, **components}, validate_formats=True)

    def fits(self, value: Any) -> bool:
        try:
            return bool(self._validator.is_valid(value))
        except ValueError:  # jsonschema-rs goes 255 levels down
            return False

    def violations(self, value: Any) -> Iterator[str]:
        """Each a sentence that begins with the path of what is wrong."""
        try:
            errors = list(self._validator.iter_errors(value))
        except ValueError as nested:  # jsonschema-rs goes 255 levels down
            yield str(nested)
            return
        for error in errors:
            yield _sentence(error)


def _sentence(error: jsonschema_rs.ValidationError) -> str:
    error = _nearest(error)
    path = ".".join(map(str, error.instance_path))
    shown = json.dumps(error.instance, ensure_ascii=False, default=repr)
    return f"{path or 'it'}: {_cut(error.message.replace(shown, _cut(shown)), 2 * LONGEST)}"


def _nearest(error: jsonschema_rs.ValidationError) -> jsonschema_rs.ValidationError:
    """In the branch of a union that fits best, what is wrong there: the branch whose first error lies deepest."""
    branches = getattr(error.kind, "context", None)
    if not branches:
        return error
    candidates = [branch for branch in branches if branch]
    if not candidates:
        return error
    # A branch for another type of value says nothing of this one.
    depth = len(error.instance_path)
    meant = [each for each in candidates if min(len(one.instance_path) for one in each) > depth]
    if not meant:
        return _nearest(min(candidates, key=len)[0]) if len(candidates) == 1 else error
    best = min(meant, key=lambda each: (len(each), -max(len(one.instance_path) for one in each)))
    return _nearest(best[0])


def _cut(text: str, longest: int = LONGEST) -> str:
    return text if len(text) <= longest else f"{text[:longest]}…"
