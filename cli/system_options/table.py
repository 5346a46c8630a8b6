"""What the options of a system are here, as a file says it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any, Literal

from specvino.document import yaml_text

Kind = Literal["flag", "switch", "value", "list"]

KINDS: tuple[Kind, ...] = ("flag", "switch", "value", "list")

MODEL = "MODEL"


@dataclass(frozen=True, slots=True)
class Meaning:
    """Says what options are here, under the keys of the file (README.md)."""

    names: tuple[str, ...]
    to: str | None = None
    property: str | None = None
    folder_of: str | None = None
    inside: "Mapping[str, Option]" = field(default_factory=dict)
    values: Mapping[str, str | None] = field(default_factory=dict)
    split: str | None = None
    because: str | None = None
    refused: str | None = None
    excludes: str | None = None
    unless: str | None = None
    beside: str | None = None


@dataclass(frozen=True, slots=True)
class Option:
    """Is one option of a system; `negative` says that its name means the opposite."""

    kind: Kind
    meaning: Meaning
    negative: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """Holds the options of a system by their `plain` names, and what they are by the files that define them."""

    version: str
    program: str
    arguments: str
    note: str
    named_as_given: tuple[str, ...]
    abbreviated: bool
    sources: Mapping[str, tuple[Meaning, ...]]
    options: Mapping[str, Option]

    @property
    def line(self) -> str:
        """Returns how the system's own server is started."""
        return f"{self.program} {self.arguments}"

    def named(self, name: str) -> Option | None:
        """Returns the option of a name, or of its only beginning where the system takes that."""
        if plain(name) in self.options or not self.abbreviated or not name.startswith("--"):
            return self.options.get(plain(name))
        begun = [option for each, option in self.options.items() if each.startswith(plain(name))]
        return begun[0] if len(begun) == 1 else None


def plain(name: str) -> str:
    """Returns the name of an option as it is looked up: `-` and `_` within are the same."""
    return "--" + name[2:].replace("_", "-") if name.startswith("--") else name


def read(system: str) -> Table | None:
    """Returns the options of a system, None where it has none."""
    file = files("specvino.cli.system_options") / f"{system}.yaml"
    if not file.is_file():
        return None
    said = yaml_text.load(file.read_text("utf-8"))
    found = {source: list(_entries(entries)) for source, entries in said["files"].items()}
    return Table(
        said["version"],
        said["program"],
        said["arguments"],
        said.get("note", ""),
        tuple(said.get("named_as_given", ())),
        said.get("abbreviated", False),
        {source: tuple(meaning for meaning, _ in entries) for source, entries in found.items()},
        {name: option for entries in found.values() for _, options in entries for name, option in options.items()},
    )


def _entries(entries: list[dict[str, Any]]) -> Iterator[tuple[Meaning, dict[str, Option]]]:
    for entry in entries:
        if isinstance(entry.get("values"), str):
            entry["values"] = _names_of_formats(entry["values"])
        named = {kind: entry.pop(kind, []) for kind in KINDS}
        inside = {name: option for _, options in _entries(entry.pop("inside", [])) for name, option in options.items()}
        meaning = Meaning(tuple(name for names in named.values() for name in names), inside=inside, **entry)
        options = {plain(name): Option(kind, meaning) for kind, names in named.items() for name in names}
        options |= {f"--no-{plain(name)[2:]}": Option("switch", meaning, True) for name in named["switch"]}
        yield meaning, options


def _names_of_formats(table: str) -> Mapping[str, str]:
    """Returns a system's names of the formats of tool calls or reasoning, each with ours."""
    from specvino.engine.output_parsers import named_formats  # only where a table refers to it: it takes a while

    names: Mapping[str, str] = getattr(named_formats, table)
    return names
