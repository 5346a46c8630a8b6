"""What the values of options hold."""

import json
from collections.abc import Iterator, Sequence

from specvino.cli.system_options.said import OptionError
from specvino.cli.system_options.table import Meaning


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
