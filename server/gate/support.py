"""Finds the fields of a valid body that will have no effect: unknown ones, and values that can't be honoured."""

from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import Any, Literal
from urllib.parse import quote

import jsonschema_rs

from specvino.generated.errors import ErrorCode
from specvino.generated.support import SHAPES
from specvino.handlers.errors import ApiError
from specvino.server.gate.explain import Path, dotted

Policy = Literal["report", "reject", "ignore"]

# Clients refuse longer headers than some kilobytes.
MOST_REPORTED = 16
LONGEST_NAME = 100


def without_effect(body: Any, component: str) -> Iterator[tuple[Path, bool]]:
    """The paths of such fields, in the order of the body, and whether the document knows the field."""
    yield from _search(body, component, ())


def apply(policy: Policy, body: Any, component: str) -> list[str]:
    """The names to report, at most 16, cut to 100 characters.

    Under `reject`, raises ApiError for the first such field instead.
    """
    if policy == "ignore":
        return []
    names = []
    for path, known in islice(without_effect(body, component), MOST_REPORTED):
        name = (dotted(path) or "")[:LONGEST_NAME]
        if policy == "reject":
            raise _refusal(name, known)
        names.append(name)
    return names


def header(names: list[str]) -> str:
    """The value of X-Unsupported-Params."""
    return ", ".join(quote(name, safe=".-_~[]") for name in names[:MOST_REPORTED])


def _refusal(name: str, known: bool) -> ApiError:
    if known:
        return ApiError(ErrorCode.UNSUPPORTED_PARAMETER, f"This server can't honour {name} as given.", param=name)
    return ApiError(ErrorCode.UNKNOWN_PARAMETER, f"Unrecognized request argument supplied: {name}", param=name)


def _search(value: Any, component: str, path: Path) -> Iterator[tuple[Path, bool]]:
    if isinstance(value, list):
        for index, element in enumerate(value):
            yield from _search(element, component, (*path, index))
    elif isinstance(value, dict):
        shape = SHAPES[component]
        if shape.select:
            component = shape.variants[value[shape.select]]
            shape = SHAPES[component]
        for name, child in value.items():
            field = shape.fields.get(name)
            if field is None:
                yield (*path, name), False
            elif child is None:
                continue  # asks for nothing
            elif not _honoured(component, name, child):
                yield (*path, name), True
            elif field.shape:
                yield from _search(child, field.shape, (*path, name))


def _honoured(component: str, name: str, value: Any) -> bool:
    field = SHAPES[component].fields[name]
    if field.honours is None:
        return field.fate != "unsupported"
    return _validator(component, name).is_valid(value)


@cache
def _validator(component: str, name: str) -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator(dict(SHAPES[component].fields[name].honours or {}))
