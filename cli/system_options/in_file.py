"""Options of a system in a file of `--config`, as its command line has them."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from specvino.cli.system_options.reading import Own
from specvino.cli.system_options.table import MODEL, Table


def arguments_of(values: Mapping[str, Any], table: Table, own: Mapping[str, Own]) -> list[str]:
    """Returns the command line with the same options, of the table or our `own`; null is none."""
    return [argument for name, value in values.items() for argument in _arguments(name, value, table, own)]


def _arguments(name: str, value: Any, table: Table, own: Mapping[str, Own]) -> Iterator[str]:
    option, ours = table.named(name), own.get(name)
    if value is None:
        return
    if name == f"--{MODEL.lower()}" and option is None:
        yield str(value)
    elif option and option.kind == "list":
        yield from [name, *map(_text, value if isinstance(value, list) else [value])]
    elif isinstance(value, bool) and (option.kind != "value" if option else ours and not ours.takes_value):
        if value:
            yield name
        elif option and option.kind == "switch":
            yield f"--no-{name[2:]}"
    elif isinstance(value, list) and not option and ours and ours.repeatable:
        yield from (f"{name}={_text(element)}" for element in value)
    else:
        yield f"{name}={_text(value)}"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
