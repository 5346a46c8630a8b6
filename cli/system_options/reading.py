"""Translates a command line with a system's options to one with ours."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path

from specvino.cli.system_options.table import MODEL, Meaning, Option, Table, plain

NAME = "--served-model-name"

PLUGIN_CONFIG = "--plugin-config"


class OptionError(Exception):
    """The command line is invalid; `str()` is the reason, and names the option as it was given."""


@dataclass(frozen=True, slots=True)
class Own:
    """One of our options: whether it takes a value, and whether it may be repeated."""

    takes_value: bool
    repeatable: bool


@dataclass(frozen=True, slots=True)
class Given:
    """An option of ours, or MODEL, with its value (None for a flag), the name it was given under, and the file or
    environment variable it is from, unless that is the command line."""

    option: str
    value: str | None
    under: str
    origin: str | None = None

    def __str__(self) -> str:
        return f"{self.under} (from {self.origin})" if self.origin else self.under


@dataclass(frozen=True, slots=True)
class Property:
    """A plugin property's value, and the option that set it."""

    value: object
    under: str


@dataclass(slots=True)
class Read:
    """A translated command line: our options, environment variables, the options of ours that these exclude, notes on
    options without effect, plugin properties, and folders of models by the options that named them."""

    given: list[Given] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)
    excluded: dict[str, str] = field(default_factory=dict)
    without_effect: list[str] = field(default_factory=list)
    properties: dict[str, Property] = field(default_factory=dict)
    folders: list[tuple[str, str]] = field(default_factory=list)

    @property
    def arguments(self) -> list[str]:
        """The command line with our options."""
        options = [given for given in self.given if given.option != MODEL]
        arguments = [part for given in options for part in (given.option, given.value) if part is not None]
        models = dict.fromkeys(given.value for given in self.given if given.option == MODEL and given.value is not None)
        return [*arguments, "--", *models] if models else arguments

    def under(self, option: str) -> str:
        """Returns the name that one of our options was first given under, and where, for messages."""
        return next((str(given) for given in self.given if given.option == option), option)

    def have_no_effect(self, option: str, because: str) -> None:
        line = f"{option} has no effect here: {because}"
        if line not in self.without_effect:
            self.without_effect.append(line)

    def have_defaults(self, others: "Read", elsewhere: Set[str]) -> None:
        """Adds what another line has of options and variables that neither this one has nor are set `elsewhere`. Raises
        OptionError."""
        known = {given.option for given in self.given} | self.environment.keys() | elsewhere
        config = self.plugin_config() if others.properties else {}
        properties = {name: property for name, property in others.properties.items() if name not in config}
        self.properties = {**properties, **self.properties}
        hidden = known | {option for name, option in self.excluded.items() if name in self.environment}
        self.given += [other for other in others.given if other.option not in hidden]
        for name, value in others.environment.items():
            if name not in known and others.excluded.get(name) not in known:
                self.environment[name] = value
        self.folders = self.folders or others.folders
        self.without_effect += [note for note in others.without_effect if note not in self.without_effect]

    def plugin_config(self) -> dict[str, Property]:
        """Returns the properties in --plugin-config. Raises OptionError."""
        return {
            name: Property(value, str(given))
            for given in self.given
            if given.option == PLUGIN_CONFIG
            for name, value in object_of_json(str(given), given.value or "").items()
        }

    def have_property(self, name: str, value: object, under: str) -> None:
        """Sets a property. Raises OptionError if it already has a different value."""
        before = self.properties.setdefault(name, Property(value, under))
        if before.value != value:
            raise OptionError(f"{before.under} and {under} set {name} to different values: {before.value} and {value}")


def single(name: str, meaning: Meaning, values: Sequence[str]) -> Iterator[str]:
    """Yields the values of an option, split if necessary. Raises OptionError."""
    for value in values:
        if meaning.split is None or meaning.inside:
            yield value
        elif meaning.split != "json":
            yield from filter(None, value.split(meaning.split))
        else:
            parsed = of_json(name, value)
            yield from map(str, parsed) if isinstance(parsed, list) else [value]


def parts(name: str, meaning: Meaning, value: str) -> dict[str, str]:
    """Returns the parts of a value by name. Raises OptionError."""
    if meaning.split == "json":
        members = object_of_json(name, value)
        return {part: inner if isinstance(inner, str) else json.dumps(inner) for part, inner in members.items()}
    pairs = [pair.partition("=") for pair in value.split(meaning.split) if pair]
    for part, sign, _ in pairs:
        if not sign:
            raise OptionError(f"{name} is not a list of NAME=VALUE: {part!r} has no value")
    return {part: inner for part, _, inner in pairs}


def object_of_json(name: str, value: str) -> dict[str, object]:
    """Returns the members of a JSON object. Raises OptionError."""
    parsed = of_json(name, value)
    if not isinstance(parsed, dict):
        raise OptionError(f"{name} is not a JSON object: {value}")
    return parsed


def of_json(name: str, value: str) -> object:
    """Returns the value of a JSON text. Raises OptionError."""
    try:
        parsed: object = json.loads(value)
    except ValueError as error:
        raise OptionError(f"{name} is not valid JSON: {error}: {value}") from None
    return parsed


def read(arguments: Sequence[str], table: Table, own: Mapping[str, Own]) -> Read:
    """Translates `arguments`, which may contain options of the table and our `own`. What follows from several options
    is left to `finish`. Raises OptionError."""
    reader = _Reader(
        table, own, {plain(argument.partition("=")[0]) for argument in arguments if argument.startswith("-")}
    )
    reader.read(arguments)
    line = reader.line
    if line.properties:
        for name, other in line.plugin_config().items():
            if name in line.properties:
                line.have_property(name, other.value, other.under)
    return line


class _Reader:
    def __init__(self, table: Table, own: Mapping[str, Own], present: set[str]) -> None:
        self.line = Read()
        self._table = table
        self._own = own
        self._present = present

    def read(self, arguments: Sequence[str]) -> None:
        rest = list(arguments)
        while rest:
            argument = rest.pop(0)
            if argument == "--":
                self.line.given += [Given(MODEL, model, MODEL) for model in rest]
                return
            if not argument.startswith("-") or argument == "-":
                self.line.given.append(Given(MODEL, argument, MODEL))
                continue
            name, joined, value = argument.partition("=")
            option = self._theirs(name, value if joined else next(iter(rest), ""))
            if option is None:
                self._take_own(name, [value] if joined else None, rest)
                continue
            values = [value] if joined else self._values(name, option, rest)
            for part in single(name, option.meaning, values):
                self._take(name, option, part)

    def _theirs(self, name: str, value: str) -> Option | None:
        """Returns the system's option of this name, unless ours is meant."""
        option = self._table.named(name)
        if option is None or (plain(name) in self._own and plain(name) not in self._table.options):
            return None
        meaning = option.meaning
        if meaning.unless and re.match(meaning.unless, value):
            return None
        return None if meaning.beside and plain(meaning.beside) not in self._present else option

    def _values(self, name: str, option: Option, rest: list[str]) -> list[str]:
        """Removes the values that follow an option from `rest`, and returns them."""
        if option.kind in ("flag", "switch"):
            return ["false" if option.negative else "true"]
        values = [self._next(name, rest)]
        while option.kind == "list" and rest and not rest[0].startswith("-"):
            values.append(rest.pop(0))
        return values

    def _next(self, name: str, rest: list[str]) -> str:
        if not rest or plain(rest[0].partition("=")[0]) in {*self._table.options, *self._own}:
            raise OptionError(f"{name} requires a value")
        return rest.pop(0)

    def _take_own(self, name: str, values: list[str] | None, rest: list[str]) -> None:
        own = self._own.get(plain(name))
        if own is None:
            near = get_close_matches(plain(name), [*self._table.options, *self._own], n=1)
            meanings = [meaning for source in self._table.sources.values() for meaning in source]
            spelling = {plain(name): name for meaning in meanings for name in meaning.names}
            hint = f" Did you mean {spelling.get(near[0], near[0])}?" if near else ""
            raise OptionError(f"unknown option {name}.{hint}")
        if not own.takes_value:
            if values:
                raise OptionError(f"{name} takes no value, but {values[0]!r} was given")
            self.line.given.append(Given(plain(name), None, name))
            return
        self.line.given += [Given(plain(name), value, name) for value in values or [self._next(name, rest)]]

    def _take(self, name: str, option: Option, value: str) -> None:
        meaning = option.meaning
        known = value in meaning.values
        if known and meaning.values[value] is None:
            return
        if not known and meaning.refused:
            raise OptionError(f"{_shown(name, meaning, value)} isn't supported here: {meaning.refused}")
        if not known and meaning.because:
            self.line.have_no_effect(_shown(name, meaning, value), meaning.because)
        elif meaning.inside:
            self._take_inside(name, meaning, value)
        elif meaning.property:
            self.line.have_property(meaning.property, _parsed(value), name)
        elif meaning.folder_of:
            self.line.folders.append((name, value))
        else:
            self._take_to(name, meaning, meaning.values.get(value) or value)

    def _take_to(self, name: str, meaning: Meaning, value: str) -> None:
        assert meaning.to is not None, f"{name} has no meaning in its table"
        if meaning.excludes and meaning.excludes in self._present:
            raise OptionError(f"{name} can't be combined with {meaning.excludes}")
        if meaning.to != MODEL and not meaning.to.startswith("-"):
            if self.line.environment.setdefault(meaning.to, value) != value:
                raise OptionError(f"{name} was given more than once, with different values")
            if meaning.excludes:
                self.line.excluded[meaning.to] = meaning.excludes
        elif meaning.to == MODEL or self._own[meaning.to].takes_value:
            self.line.given.append(Given(meaning.to, value, name))
        elif value == "true":
            self.line.given.append(Given(meaning.to, None, name))

    def _take_inside(self, name: str, meaning: Meaning, value: str) -> None:
        for part, inner in parts(name, meaning, value).items():
            named = f"{name} {part}"
            option = meaning.inside.get(part)
            if option is None:
                raise OptionError(f"unknown {named}; known names are {', '.join(meaning.inside)}")
            self._take(named, option, inner)


def _shown(name: str, meaning: Meaning, value: str) -> str:
    """Returns an option for a message: with its value, if its other values have a meaning."""
    return f"{name} {value}" if meaning.values else name


def _parsed(value: str) -> object:
    """Parses a property's value: as JSON, or else as a string."""
    try:
        parsed: object = json.loads(value)
    except ValueError:
        return value
    return parsed


def finish(line: Read, table: Table, own: Mapping[str, Own], elsewhere: Set[str] = frozenset()) -> None:
    """Names the model, unless a name is set `elsewhere`, locates it, and merges plugin properties. Raises OptionError
    for contradicting options."""
    if NAME not in elsewhere:
        _name_model(line, table)
    _find_model(line)
    _check(line, own)
    _join_properties(line)


def _name_model(line: Read, table: Table) -> None:
    """Gives the model the name that the system would give it, unless one was given."""
    model = next((given for given in line.given if given.option == MODEL), None)
    named = any(given.option in (NAME, "--model") for given in line.given)
    if model and model.under in table.named_as_given and not named:
        line.given.append(Given(NAME, model.value, model.under, model.origin))


def _find_model(line: Read) -> None:
    """Replaces the model by its path in a folder of models, if it is there."""
    for name, folder in line.folders:
        paths = {given: Path(folder) / given.value for given in line.given if given.option == MODEL and given.value}
        models = {given: path for given, path in paths.items() if path.is_dir()}
        if not models:
            line.have_no_effect(f"{name} {folder}", "the model isn't in it, and hub models are stored in the cache.")
        line.given = [replace(given, value=str(models[given])) if given in models else given for given in line.given]


def _check(line: Read, own: Mapping[str, Own]) -> None:
    """Raises OptionError if an option was given under several names with different values."""
    single = [given for given in line.given if given.option == MODEL or not own[given.option].repeatable]
    for given in single:
        for other in single:
            if other.option == given.option and other.under != given.under and other.value != given.value:
                raise OptionError(f"{given} {given.value} conflicts with {other} {other.value}")


def _join_properties(line: Read) -> None:
    """Merges properties that have options of their own into --plugin-config."""
    if not line.properties:
        return
    joined = {name: property.value for name, property in {**line.plugin_config(), **line.properties}.items()}
    line.given = [given for given in line.given if given.option != PLUGIN_CONFIG]
    line.given.append(Given(PLUGIN_CONFIG, json.dumps(joined), PLUGIN_CONFIG))
