"""The texts of a value."""

import json
from collections.abc import Iterator
from itertools import islice, permutations, product
from typing import Any

MOST = 200


def spellings(value: Any) -> Iterator[str]:
    """Yields the texts of a value with a grammar's white space, up to `MOST`: its properties in any order, and whole
    numbers with and without a fraction."""
    return islice(_spellings(value), MOST)


def _spellings(value: Any) -> Iterator[str]:
    match value:
        case bool():
            yield json.dumps(value)
        case int() if abs(value) < 2**53:
            yield from (str(value), f"{value}.0")
        case float() if value.is_integer() and abs(value) < 2**53:
            yield from (str(int(value)), f"{int(value)}.0")
        case list():
            for items in product(*(list(islice(_spellings(item), MOST)) for item in value)):
                yield f"[{', '.join(items)}]"
        case dict():
            for members in permutations(value.items()):
                for values in product(*(list(islice(_spellings(member), MOST)) for _, member in members)):
                    pairs = (f"{_text(name)}: {spelling}" for (name, _), spelling in zip(members, values, strict=True))
                    yield f"{{{', '.join(pairs)}}}"
        case _:
            yield _text(value)


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
