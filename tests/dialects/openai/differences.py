"""The differences between two tables of facts, and those that are allowed: allowed.yaml."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from dialects.openai.facts import Fact

from specvino.document import yaml_text

PLACE = Path(__file__).parent / "allowed.yaml"
KINDS = ("missing there", "missing here", "types", "required", "values", "bounds", "default")


class Difference(NamedTuple):
    field: str
    what: str
    theirs: Any = None
    ours: Any = None


@dataclass(frozen=True, slots=True)
class Allowed:
    """Allows differences of some kinds at fields of a name, in which `*` stands for anything but is itself."""

    what: tuple[str, ...]
    field: str
    reason: str

    def fits(self, difference: Difference) -> bool:
        pattern = ".*".join(re.escape(part) for part in self.field.split("*"))
        return difference.what in self.what and re.fullmatch(pattern, difference.field) is not None


def differences(theirs: Mapping[str, Fact], ours: Mapping[str, Fact]) -> Iterator[Difference]:
    """Yields what differs, each field that one side is without once, for all that is inside it."""
    missing: set[str] = set()
    for name in dict.fromkeys((*theirs, *ours)):
        if any(around in missing for around in _around(name)):
            continue
        if name not in theirs or name not in ours:
            missing.add(name)
            yield Difference(name, "missing there" if name in ours else "missing here")
            continue
        one, other = theirs[name], ours[name]
        for what in ("types", "required", "values", "bounds"):
            if getattr(one, what) != getattr(other, what):
                yield Difference(name, what, getattr(one, what), getattr(other, what))
        if one.default != other.default and not re.match(r"\w+\.(response|stream)(\.|$)", name):
            # What an answer leaves out counts as nothing.
            yield Difference(name, "default", one.default, other.default)


def allowed() -> list[Allowed]:
    """Returns what allowed.yaml allows."""
    return [
        Allowed((what,) if isinstance(what := entry["what"], str) else tuple(what), field, entry["reason"])
        for entry in yaml_text.load(PLACE.read_text("utf-8"))
        for field in entry["fields"]
    ]


def left(found: Iterable[Difference], entries: Collection[Allowed]) -> list[Difference]:
    """Returns the differences that no entry allows."""
    return [difference for difference in found if not any(entry.fits(difference) for entry in entries)]


def _around(name: str) -> Iterator[str]:
    """Yields the names of what a field is in, the outermost first."""
    for mark in re.finditer(r"[.(\[]", name):
        yield name[: mark.start()]
        if name[mark.start()] == "[":
            yield f"{name[: mark.start()]}[]"
