"""Grouped names of methods beside the flat ones: `create_chat_completion` is also `chat.completions.create`."""

import builtins
import keyword
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from specvino.sdk.document import ClientMethod

VERBS = ("create", "list", "retrieve", "update", "delete", "cancel", "count", "compact")


@dataclass(slots=True)
class Group:
    """Methods and further groups by their names. `path` has the names that lead here."""

    path: tuple[str, ...] = ()
    methods: dict[str, ClientMethod] = field(default_factory=dict)
    groups: dict[str, "Group"] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name of its class: `ChatCompletions`."""
        return "".join(part.title().replace("_", "") for part in self.path)

    def all(self) -> "list[Group]":
        """The groups inside, before those that contain them."""
        return [inner for group in self.groups.values() for inner in (*group.all(), group)]


def grouped(operations: Iterable[ClientMethod]) -> Group:
    """Returns the groups, by the operations' paths and the verbs of their names. Operations whose path isn't one of an
    API's objects, such as `/tokenize`, have none."""
    operations = list(operations)
    root = Group()
    taken = {operation.id for operation in operations}
    for operation in operations:
        *path, name = _names(operation)
        if not path or path[0] in taken or not all(map(_is_free, path)) or not _is_name(name):
            continue
        group = root
        for part in path:
            group = group.groups.setdefault(part, Group((*group.path, part)))
        group.methods.setdefault(name, operation)
    for group in root.all():
        for name in group.methods.keys() & group.groups.keys():
            del group.groups[name]
    return root


def _names(operation: ClientMethod) -> list[str]:
    parts = [part for part in operation.path.split("/") if part]
    nouns = [part.replace("-", "_") for part in parts if not part.startswith("{")]
    verb = operation.id.partition("_")[0]
    if nouns and re.match(rf"{verb}(_|$)", nouns[-1]):
        return nouns
    if verb not in VERBS:
        one = bool(parts) and parts[-1].startswith("{")
        reading = "retrieve" if one else "list" if operation.items else "get"
        verb = {"GET": reading, "DELETE": "delete", "POST": "update" if one else "create"}.get(operation.method, verb)
    return [*nouns, verb]


def _is_free(name: str) -> bool:
    """Whether a name can be an attribute that hides no type within its class."""
    return _is_name(name) and name not in (*dir(builtins), "close", "constructor")


def _is_name(name: str) -> bool:
    return name.isidentifier() and not keyword.iskeyword(name) and not name.startswith("_")
