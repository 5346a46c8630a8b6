"""The table of a system's options and their meaning here, read from its file, with descriptions for --help."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any, Literal

from specvino.document import yaml_text
from specvino.engine import format_names

Kind = Literal["flag", "switch", "value", "list"]

KINDS: tuple[Kind, ...] = ("flag", "switch", "value", "list")

MODEL = "MODEL"


@dataclass(frozen=True, slots=True)
class Meaning:
    """The meaning of options here. The attributes are the keys of the file (README.md)."""

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
    """One option of a system. If `negative`, its name means the opposite."""

    kind: Kind
    meaning: Meaning
    negative: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """The options of a system by their `plain` names, and their meanings by the source files that define them."""

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
        """The command line that starts the system's own server."""
        return f"{self.program} {self.arguments}"

    def named(self, name: str) -> Option | None:
        """Returns the option of this name, or of this unambiguous prefix if the system accepts prefixes."""
        if plain(name) in self.options or not self.abbreviated or not name.startswith("--"):
            return self.options.get(plain(name))
        matches = [option for full, option in self.options.items() if full.startswith(plain(name))]
        return matches[0] if len(matches) == 1 else None


def plain(name: str) -> str:
    """Returns the normalized name of an option, in which `_` is `-`."""
    return "--" + name[2:].replace("_", "-") if name.startswith("--") else name


def read(system: str) -> Table | None:
    """Returns the table of a system; None if it has no file."""
    file = files("specvino.cli.system_options") / f"{system}.yaml"
    if not file.is_file():
        return None
    data = yaml_text.load(file.read_text("utf-8"))
    sources = {source: list(_entries(entries)) for source, entries in data["files"].items()}
    return Table(
        data["version"],
        data["program"],
        data["arguments"],
        data.get("note", ""),
        tuple(data.get("named_as_given", ())),
        data.get("abbreviated", False),
        {source: tuple(meaning for meaning, _ in entries) for source, entries in sources.items()},
        {name: option for entries in sources.values() for _, options in entries for name, option in options.items()},
    )


def _entries(entries: list[dict[str, Any]]) -> Iterator[tuple[Meaning, dict[str, Option]]]:
    for entry in entries:
        if isinstance(entry.get("values"), str):
            entry["values"] = getattr(format_names, entry["values"])
        named = {kind: entry.pop(kind, []) for kind in KINDS}
        inside = {name: option for _, options in _entries(entry.pop("inside", [])) for name, option in options.items()}
        meaning = Meaning(tuple(name for names in named.values() for name in names), inside=inside, **entry)
        options = {plain(name): Option(kind, meaning) for kind, names in named.items() for name in names}
        options |= {f"--no-{plain(name)[2:]}": Option("switch", meaning, True) for name in named["switch"]}
        yield meaning, options


def effect(meaning: Meaning) -> str | None:
    """Describes what options do here, or why they are refused; None if they have no effect."""
    if meaning.refused:
        known = f"Only {', '.join(meaning.values)}: " if meaning.values else "Refused: "
        return known + meaning.refused
    if meaning.inside:
        inner = ((part, effect(option.meaning)) for part, option in meaning.inside.items())
        return " ".join(f"{part}: {words}" for part, words in inner if words)
    if meaning.folder_of:
        return "A folder to look for the model in."
    if meaning.property:
        return f"As {meaning.property} in --plugin-config."
    if meaning.to is None:
        return None
    known = ", ".join(value for value, ours in meaning.values.items() if ours is not None)
    is_variable = meaning.to != MODEL and not meaning.to.startswith("-")
    named = f"the environment variable {meaning.to}" if is_variable else meaning.to
    if meaning.because:
        return f"As {named}, for {known}. No effect otherwise: {meaning.because}"
    return f"As {named}."
