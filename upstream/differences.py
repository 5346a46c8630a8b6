"""The differences that a comparison finds."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

LONGEST = 60
"""The maximum number of characters of a value in the output."""


class Only(StrEnum):
    """The only side that accepts a value or has a field."""

    SYSTEM = "system"
    DOCUMENT = "document"


class What(StrEnum):
    VALUES = "values"
    ABSENCE = "absence"
    DEFAULT = "default"
    FIELD = "field"
    UNKNOWN_FIELDS = "unknown fields"


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference at a field, of one kind, on one side. values: the affected values, if any, as JSON. kinds: the
    affected kinds of object, such as `role: user`; empty for all.
    """

    field: str
    what: What
    only: Only
    values: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()

    @property
    def is_lacking(self) -> bool:
        """Whether the document has a field that the system lacks, in objects of any kind."""
        return (self.what, self.only, self.kinds) == (What.FIELD, Only.DOCUMENT, ())


def field_name(endpoint: str, part: str, path: str) -> str:
    """Returns a field's name as dialect files and `specvino spec explain` have it."""
    steps = (endpoint, path) if part == "request" else (endpoint, part, path)
    return ".".join(filter(None, steps))


def split_name(name: str) -> tuple[str, str, str]:
    """Returns endpoint, part and path of a field's name."""
    endpoint, _, path = name.partition(".")
    part, _, inner = path.partition(".")
    return (endpoint, part, inner) if part in ("response", "stream") and inner else (endpoint, "request", path)


def shown(value: Any) -> str:
    """Returns a value as JSON, shortened."""
    text = json.dumps(value, ensure_ascii=False)
    if len(text) <= LONGEST:
        return text
    size = f"{len(value)} {'characters' if isinstance(value, str) else 'elements'}"
    return f"{text[: LONGEST // 2]}… ({size})" if isinstance(value, (str, list)) else f"{text[:LONGEST]}…"


def joined(differences: Iterable[Difference]) -> list[Difference]:
    """Merges the values of a difference, and equal differences of several kinds of object."""
    values: dict[tuple[str, What, Only, tuple[str, ...]], dict[str, None]] = {}
    for difference in differences:
        values.setdefault((difference.field, difference.what, difference.only, difference.kinds), {}).update(
            dict.fromkeys(difference.values)
        )
    kinds: dict[tuple[str, What, Only, tuple[str, ...]], list[tuple[str, ...]]] = {}
    for (field, what, only, of), listed in values.items():
        kinds.setdefault((field, what, only, tuple(listed)), []).append(of)
    return [Difference(field, what, only, listed, _together(of)) for (field, what, only, listed), of in kinds.items()]


def _together(kinds: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Returns the kinds of several differences; none if one of them is about all kinds."""
    return tuple(dict.fromkeys(kind for names in kinds for kind in names)) if all(kinds) else ()
