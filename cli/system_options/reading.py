"""From a command line in the options of a system to one in ours."""

import json
import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches

from specvino.cli.system_options.finish import finish
from specvino.cli.system_options.said import Given, OptionError, Own, Read
from specvino.cli.system_options.table import MODEL, Meaning, Option, Table, plain
from specvino.cli.system_options.values import parts, single


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
