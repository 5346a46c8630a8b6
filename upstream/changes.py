"""The rows of a dialect file to look at again: those whose fields are defined by other lines in a new version."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from specvino.document.system_fields import SystemFields
from specvino.upstream.differences import split_name


@dataclass(frozen=True, slots=True)
class Change:
    """A field, or a part, whose lines changed. what: `new`, `gone`, `changed`, or the methods that changed."""

    field: str
    what: str
    where: tuple[str, ...]
    """The changed lines of the new version, as FILE:LINES; of the old one for what is gone."""


def changes(before: SystemFields, after: SystemFields, names: Iterable[str]) -> list[Change]:
    """Returns the changes between two versions of a system. `names`: our fields, such as `chat.response.usage`.

    A method of several classes is reported once.
    """
    listed = [(name, *split_name(name)) for name in names]
    parts = dict.fromkeys((endpoint, part) for _, endpoint, part, _ in listed)
    result = []
    reported: set[tuple[str, str]] = set()
    for name, endpoint, part, path in [*((".".join(part), *part, "") for part in parts), *listed]:
        old, new = (_by_hash(side.places(endpoint, part, path)) for side in (before, after))
        had, has = (side.has(endpoint, part, path) if path else None for side in (before, after))
        if (had is False) != (has is False):
            gone = has is False
            result.append(Change(name, "gone" if gone else "new", tuple(sorted(dict((old if gone else new).values())))))
        elif old.keys() != new.keys():
            changed = [new[digest] for digest in new.keys() - old.keys()]
            changed = changed or [old[digest] for digest in old.keys() - new.keys()]
            if fresh := [lines for lines in changed if not lines[1] or lines not in reported]:
                reported |= {*fresh}
                methods = sorted({method for _, method in fresh if method})
                what = methods if all(method for _, method in fresh) else ["changed", *methods]
                result.append(Change(name, ", ".join(what), tuple(sorted({where for where, _ in fresh}))))
    return result


def _by_hash(places: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Returns FILE:LINES and the method, if it is one, by the hash of the lines."""
    matches = (re.fullmatch(r"(\S+) (\w+)(?: (\S+))?", place) for place in places)
    return {match[2]: (match[1], match[3] or "") for match in matches if match}
