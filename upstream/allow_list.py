"""Known and accepted differences: `allowed/SYSTEM.yaml`, a list of entries, each with a reason.

`allowed/SYSTEM.openapi.yaml` is about the system's own OpenAPI document, which differs from its classes.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import yaml

from specvino.document import yaml_text
from specvino.document.system_fields import system_name
from specvino.upstream.described import Unreadable
from specvino.upstream.differences import Difference, Only, What


@dataclass(frozen=True, slots=True)
class Allowed:
    """An entry. field: a field's name, in which `*` stands for any text. only: the side that may accept more values or
    have more fields; None: either. what: the kind of difference; None: any, but not that the system lacks a field
    if this one has a `*`. values: the values, as JSON; empty: any.
    """

    field: str
    reason: str
    only: Only | None = None
    what: What | None = None
    values: tuple[str, ...] = ()
    is_optional: bool = False
    """Whether there may be no such difference: in an older version, one that the newest has."""

    def __str__(self) -> str:
        parts = (self.field, self.only and f"only {self.only}", self.what, " ".join(self.values))
        return ", ".join(part for part in parts if part)

    def fits(self, difference: Difference) -> bool:
        """Returns whether an entry allows a difference, or some of its values."""
        pattern = ".*".join(map(re.escape, self.field.split("*")))
        return (
            re.fullmatch(pattern, difference.field) is not None
            and not ("*" in self.field and self.what is None and difference.is_lacking)
            and self.only in (None, difference.only)
            and self.what in (None, difference.what)
            and (not self.values or not set(self.values).isdisjoint(difference.values))
        )


def read(name: str, path: Path | None = None, folder: Traversable | None = None) -> list[Allowed]:
    """Returns the entries of a file, by default those of the file `name` in a folder, by default the packaged one: a
    system, or `SYSTEM.openapi` for its own OpenAPI document. There may be no such file in the folder. An older version,
    SYSTEM@VERSION, also has the entries of the newest.

    Raises Unreadable for a file that isn't a list of valid entries.
    """
    if path is not None:
        return _entries(path)
    file = (folder or files("specvino.upstream") / "allowed") / f"{name}.yaml"
    newest = [] if (system := system_name(name)) == name else read(system, folder=folder)
    return [*(replace(entry, is_optional=True) for entry in newest), *(_entries(file) if file.is_file() else [])]


def _entries(file: Traversable) -> list[Allowed]:
    try:
        listed = yaml_text.load(file.read_text("utf-8")) or []
        if not isinstance(listed, list):
            raise ValueError("it isn't a list of entries")
        return [_entry(entry) for entry in listed]
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise Unreadable(f"{file} can't be read: {error}") from None


def _entry(content: Any) -> Allowed:
    if not isinstance(content, dict) or not content.keys() <= {"field", "only", "what", "values", "reason"}:
        raise ValueError(f"an entry has field and reason, and can have only, what and values: {content}")
    if not all(isinstance(content.get(key), str) and content[key].strip() for key in ("field", "reason")):
        raise ValueError(f"an entry needs a field and a reason: {content}")
    return Allowed(
        content["field"],
        content["reason"],
        Only(content["only"]) if "only" in content else None,
        What(content["what"]) if "what" in content else None,
        tuple(map(str, content.get("values", ()))),
    )


def sift(differences: Iterable[Difference], entries: Iterable[Allowed]) -> tuple[list[Difference], list[Allowed]]:
    """Returns the differences, or their values, that no entry allows, and the unused entries."""
    left, used = [], set()
    entries = list(entries)
    for difference in differences:
        fitting = [entry for entry in entries if entry.fits(difference)]
        used.update(fitting)
        if any(not entry.values for entry in fitting):
            continue
        listed = {value for entry in fitting for value in entry.values}
        values = tuple(value for value in difference.values if value not in listed)
        if values or not fitting:
            left.append(Difference(difference.field, difference.what, difference.only, values, difference.kinds))
    return left, [entry for entry in entries if entry not in used and not entry.is_optional]
