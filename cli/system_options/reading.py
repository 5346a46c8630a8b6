"""From a command line in the options of a system to one in ours."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path

from specvino.cli.system_options.table import MODEL, Meaning, Option, Table, plain


class OptionError(Exception):
    """The command line can't be read; `str()` says why, and names the option as it was given."""


@dataclass(frozen=True, slots=True)
class Own:
    """Is one of our options: whether it takes a value, and whether it may be repeated."""

    takes_value: bool
    repeatable: bool


@dataclass(frozen=True, slots=True)
class Given:
    """Is an option of ours, or MODEL, with its value (None for a flag) and the name under which it was given."""

    option: str
    value: str | None
    under: str


@dataclass(frozen=True, slots=True)
class Property:
    """Is a property's value, and the option that said it."""

    value: object
    under: str


@dataclass(slots=True)
class Read:
    """Holds what a command line says here: our options, variables of the environment, what has no effect, properties of
    the plugin and folders of models, the last two by the options that said them."""

    given: list[Given] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)
    without_effect: list[str] = field(default_factory=list)
    properties: dict[str, Property] = field(default_factory=dict)
    folders: list[tuple[str, str]] = field(default_factory=list)

    @property
    def arguments(self) -> list[str]:
        """Returns the command line in our options."""
        options = [each for each in self.given if each.option != MODEL]
        said = [part for each in options for part in (each.option, each.value) if part is not None]
        models = dict.fromkeys(each.value for each in self.given if each.option == MODEL and each.value is not None)
        return [*said, "--", *models] if models else said

    def under(self, option: str) -> str:
        """Returns the name under which one of our options was given first."""
        return next((each.under for each in self.given if each.option == option), option)

    def have_no_effect(self, option: str, because: str) -> None:
        line = f"{option} has no effect here: {because}"
        if line not in self.without_effect:
            self.without_effect.append(line)

    def have_property(self, name: str, value: object, under: str) -> None:
        """Notes a property. Raises OptionError where it has another value already."""
        before = self.properties.setdefault(name, Property(value, under))
        if before.value != value:
            raise OptionError(f"{before.under} and {under} both say {name}: {before.value} and {value}")


def single(name: str, meaning: Meaning, values: Sequence[str]) -> Iterator[str]:
    """Yields the values of an option one by one. Raises OptionError."""
    for value in values:
        if meaning.split is None or meaning.inside:
            yield value
        elif meaning.split != "json":
            yield from filter(None, value.split(meaning.split))
        else:
            found = of_json(name, value)
            yield from map(str, found) if isinstance(found, list) else [value]


def parts(name: str, meaning: Meaning, value: str) -> dict[str, str]:
    """Returns what a value holds, by name. Raises OptionError."""
    if meaning.split == "json":
        found = object_of_json(name, value)
        return {part: inner if isinstance(inner, str) else json.dumps(inner) for part, inner in found.items()}
    pairs = [each.partition("=") for each in value.split(meaning.split) if each]
    for part, sign, _ in pairs:
        if not sign:
            raise OptionError(f"{name} is no list of NAME=VALUE: {part!r} has no value")
    return {part: inner for part, _, inner in pairs}


def object_of_json(name: str, value: str) -> dict[str, object]:
    """Returns the members of a JSON object. Raises OptionError."""
    found = of_json(name, value)
    if not isinstance(found, dict):
        raise OptionError(f"{name} is no JSON object: {value}")
    return found


def of_json(name: str, value: str) -> object:
    """Returns what a JSON text holds. Raises OptionError."""
    try:
        found: object = json.loads(value)
    except ValueError as error:
        raise OptionError(f"{name} is no JSON: {error}: {value}") from None
    return found


def read(arguments: Sequence[str], table: Table, own: Mapping[str, Own]) -> Read:
    """Returns what `arguments` say, in which options of the table and `own` ones stand. Raises OptionError."""
    reader = _Reader(table, own, {plain(each.partition("=")[0]) for each in arguments if each.startswith("-")})
    reader.read(arguments)
    finish(reader.said, table, own)
    return reader.said


class _Reader:
    def __init__(self, table: Table, own: Mapping[str, Own], present: set[str]) -> None:
        self.said = Read()
        self._table = table
        self._own = own
        self._present = present

    def read(self, arguments: Sequence[str]) -> None:
        rest = list(arguments)
        while rest:
            said = rest.pop(0)
            if said == "--":
                self.said.given += [Given(MODEL, each, MODEL) for each in rest]
                return
            if not said.startswith("-") or said == "-":
                self.said.given.append(Given(MODEL, said, MODEL))
                continue
            name, joined, value = said.partition("=")
            option = self._theirs(name, value if joined else next(iter(rest), ""))
            if option is None:
                self._take_own(name, [value] if joined else None, rest)
                continue
            values = [value] if joined else self._values(name, option, rest)
            for each in single(name, option.meaning, values):
                self._take(name, option, each)

    def _theirs(self, name: str, value: str) -> Option | None:
        """Returns the system's option of this name, unless it is ours that is meant."""
        found = self._table.named(name)
        if found is None or (plain(name) in self._own and plain(name) not in self._table.options):
            return None
        meaning = found.meaning
        if meaning.unless and re.match(meaning.unless, value):
            return None
        return None if meaning.beside and plain(meaning.beside) not in self._present else found

    def _values(self, name: str, option: Option, rest: list[str]) -> list[str]:
        """Returns the values behind an option, and takes them from the `rest`."""
        if option.kind in ("flag", "switch"):
            return ["false" if option.negative else "true"]
        values = [self._next(name, rest)]
        while option.kind == "list" and rest and not rest[0].startswith("-"):
            values.append(rest.pop(0))
        return values

    def _next(self, name: str, rest: list[str]) -> str:
        if not rest or plain(rest[0].partition("=")[0]) in {*self._table.options, *self._own}:
            raise OptionError(f"{name} needs a value")
        return rest.pop(0)

    def _take_own(self, name: str, values: list[str] | None, rest: list[str]) -> None:
        own = self._own.get(plain(name))
        if own is None:
            near = get_close_matches(plain(name), [*self._table.options, *self._own], n=1)
            spelt = {plain(each): each for source in self._table.sources.values() for m in source for each in m.names}
            meant = f" Did you mean {spelt.get(near[0], near[0])}?" if near else ""
            raise OptionError(f"there is no option {name}.{meant}")
        if not own.takes_value:
            if values:
                raise OptionError(f"{name} takes no value, but {values[0]!r} was given")
            self.said.given.append(Given(plain(name), None, name))
            return
        self.said.given += [Given(plain(name), each, name) for each in values or [self._next(name, rest)]]

    def _take(self, name: str, option: Option, value: str) -> None:
        meaning = option.meaning
        known = value in meaning.values
        if known and meaning.values[value] is None:
            return
        if not known and meaning.refused:
            raise OptionError(f"{_said(name, meaning, value)} can't be had here: {meaning.refused}")
        if not known and meaning.because:
            self.said.have_no_effect(_said(name, meaning, value), meaning.because)
        elif meaning.inside:
            self._take_inside(name, meaning, value)
        elif meaning.property:
            self.said.have_property(meaning.property, _parsed(value), name)
        elif meaning.folder_of:
            self.said.folders.append((name, value))
        else:
            self._take_to(name, meaning, meaning.values.get(value) or value)

    def _take_to(self, name: str, meaning: Meaning, value: str) -> None:
        assert meaning.to is not None, f"{name} has no meaning in its table"
        if meaning.excludes and meaning.excludes in self._present:
            raise OptionError(f"{name} can't be given beside {meaning.excludes}")
        if meaning.to != MODEL and not meaning.to.startswith("-"):
            if self.said.environment.setdefault(meaning.to, value) != value:
                raise OptionError(f"{name} was given more than once, with different values")
        elif meaning.to == MODEL or self._own[meaning.to].takes_value:
            self.said.given.append(Given(meaning.to, value, name))
        elif value == "true":
            self.said.given.append(Given(meaning.to, None, name))

    def _take_inside(self, name: str, meaning: Meaning, value: str) -> None:
        for part, inner in parts(name, meaning, value).items():
            named = f"{name} {part}"
            option = meaning.inside.get(part)
            if option is None:
                raise OptionError(f"{named} isn't known: it takes {', '.join(meaning.inside)}")
            self._take(named, option, inner)


def _said(name: str, meaning: Meaning, value: str) -> str:
    """Returns an option as it is told: with its value, where other values of it mean something."""
    return f"{name} {value}" if meaning.values else name


def _parsed(value: str) -> object:
    """Returns a property's value: what is no JSON is a text."""
    try:
        found: object = json.loads(value)
    except ValueError:
        return value
    return found


NAME = "--served-model-name"

PLUGIN_CONFIG = "--plugin-config"


def finish(said: Read, table: Table, own: Mapping[str, Own]) -> None:
    """Names the model, finds it, and joins the plugin's properties. Raises OptionError where options contradict each
    other."""
    _name_model(said, table)
    _find_model(said)
    _check(said, own)
    _join_properties(said)


def _name_model(said: Read, table: Table) -> None:
    """Gives the model the name that the system would give it, unless it has one."""
    model = next((each for each in said.given if each.option == MODEL), None)
    named = any(each.option in (NAME, "--model") for each in said.given)
    if model and model.under in table.named_as_given and not named:
        said.given.append(Given(NAME, model.value, model.under))


def _find_model(said: Read) -> None:
    """Takes the model from a folder of models, if it is in it."""
    for name, folder in said.folders:
        places = {each: Path(folder) / each.value for each in said.given if each.option == MODEL and each.value}
        found = {each: path for each, path in places.items() if path.is_dir()}
        if not found:
            said.have_no_effect(f"{name} {folder}", "the model isn't in it, and models of the hub have a cache.")
        said.given = [Given(MODEL, str(found[each]), each.under) if each in found else each for each in said.given]


def _check(said: Read, own: Mapping[str, Own]) -> None:
    """Raises OptionError where an option was given under several names with different values."""
    single = [each for each in said.given if each.option == MODEL or not own[each.option].repeatable]
    for each in single:
        for other in single:
            if other.option == each.option and other.under != each.under and other.value != each.value:
                raise OptionError(f"{each.under} {each.value} and {other.under} {other.value} say different things")


def _join_properties(said: Read) -> None:
    """Puts properties that have options of their own to those of --plugin-config."""
    if not said.properties:
        return
    for each in said.given:
        if each.option == PLUGIN_CONFIG:
            for name, value in object_of_json(each.under, each.value or "").items():
                said.have_property(name, value, each.under)
    joined = {name: property.value for name, property in said.properties.items()}
    said.given = [each for each in said.given if each.option != PLUGIN_CONFIG]
    said.given.append(Given(PLUGIN_CONFIG, json.dumps(joined), PLUGIN_CONFIG))
