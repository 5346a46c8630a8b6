"""Finds fields of a valid body that have no effect: unknown fields, and unsupported fields or values."""

from functools import cache
from typing import Any, Literal
from urllib.parse import quote

from specvino.document.validator import Validator
from specvino.generated.errors import ErrorCode
from specvino.generated.support import SHAPES, UNIONS, Shape, Union
from specvino.handlers.errors import ApiError
from specvino.server.validation.refusal import Path, dotted

Policy = Literal["report", "reject", "ignore"]

# Clients reject headers longer than a few kilobytes.
MOST_REPORTED = 16
LONGEST_NAME = 100
LONGEST_HEADER = 2048


def apply(policy: Policy, body: Any, component: str) -> list[str]:
    """Returns the names of fields without effect: at most 16, truncated to 100 characters.

    With the policy `reject`, raises ApiError for the first one instead.
    """
    if policy == "ignore":
        return []
    matches: list[tuple[Path, bool]] = []
    _search(body, component, (), matches)
    names = []
    for path, known in matches[:MOST_REPORTED]:
        name = (dotted(path) or "")[:LONGEST_NAME]
        if policy == "reject":
            raise _refusal(name, known)
        names.append(name)
    return names


def header(names: list[str]) -> str:
    """Returns the value of X-Unsupported-Params, within its length limit; an empty name is shown as two quotes."""
    text = ""
    for name in names[:MOST_REPORTED]:
        longer = f"{text}, " * bool(text) + quote(name or '""', safe=".-_~[]")
        if len(longer) > LONGEST_HEADER:
            break
        text = longer
    return text


def _refusal(name: str, known: bool) -> ApiError:
    if known:
        return ApiError(
            ErrorCode.UNSUPPORTED_PARAMETER, f"This server doesn't support this value of {name}.", param=name
        )
    return ApiError(ErrorCode.UNKNOWN_PARAMETER, f"Unrecognized request argument supplied: {name}", param=name)


def _search(value: Any, shape: str, path: Path, matches: list[tuple[Path, bool]]) -> None:
    """Appends the paths of fields without effect, in the order of the body, with whether the document knows the field.

    Stops soon after the reporting limit. It appends to a list because a generator at each level would take twice as
    long, and mostly finds nothing.
    """
    if isinstance(value, list):
        for index, element in enumerate(value):
            _search(element, shape, (*path, index), matches)
            if len(matches) >= MOST_REPORTED:
                return
        return
    if not isinstance(value, dict):
        return
    component = shape if shape in SHAPES else _meant(value, UNIONS[shape])
    if component is None:
        return  # a map with any keys, next to the objects
    if not SHAPES[component].required <= value.keys():
        return  # a map with any keys, next to the only object
    if value.keys() <= _plain(component):
        return
    shape_of = SHAPES[component]
    for name, child in value.items():
        if child is None:
            continue  # null is the same as absent
        field = shape_of.fields.get(name)
        if field is None:
            if not shape_of.open:
                matches.append(((*path, name), False))
        elif (field.handling == "unsupported" or field.supported_values is not None) and not _supported(
            component, name, child
        ):
            matches.append(((*path, name), True))
        elif field.shape is not None and isinstance(child, (list, dict)):
            _search(child, field.shape, (*path, name), matches)
        if len(matches) >= MOST_REPORTED:
            return


def _meant(value: dict[str, Any], union: Union) -> str | None:
    """Returns the branch of a union that matches a valid object."""
    selected = value.get(union.select) if union.select else None
    if selected is None:
        candidates = union.absent
    else:
        candidates = union.variants.get(selected, union.branches) if isinstance(selected, str) else union.branches
        if len(candidates) == 1:
            return candidates[0]  # a valid value of this kind matches no other
    for name in candidates:
        if _fits(value, SHAPES[name]):
            return name
    return None


def _fits(value: dict[str, Any], shape: Shape) -> bool:
    if not shape.required <= value.keys():
        return False
    return all(name not in value or value[name] in allowed for name, allowed in shape.values.items())


def _supported(component: str, name: str, value: Any) -> bool:
    return SHAPES[component].fields[name].supported_values is not None and _validator(component, name).is_valid(value)


@cache
def _plain(component: str) -> frozenset[str]:
    """Returns the fields that are supported with any value and contain no objects: most of what clients send."""
    fields = SHAPES[component].fields.items()
    return frozenset(
        name
        for name, field in fields
        if field.handling != "unsupported" and field.supported_values is None and field.shape is None
    )


@cache
def _validator(component: str, name: str) -> Validator:
    return Validator(SHAPES[component].fields[name].supported_values or {})
