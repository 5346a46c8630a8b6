"""Bodies of requests, valid and invalid: the examples of a document, and changes of them."""

import copy
import random
from collections.abc import Iterator
from typing import Any

from specvino.document.operations import JSON, operations
from specvino.document.pointers import resolved

# Values that replace parts of valid bodies: of each type, and at the edges of common bounds.
VALUES: list[Any] = [None, True, 0, -1, 1, 2.5, 10**9, "", "auto", "x" * 70, [], [None], ["a", 1], {}, {"type": "text"}]
CHANGES = 12


def changed_bodies(document: dict[str, Any]) -> Iterator[tuple[str, list[Any]]]:
    """The reference of each body's schema with its examples and the same changes of them in every run."""
    chance = random.Random(7)
    for operation in operations(document):
        if operation.body is not None:
            media = operation.definition["requestBody"]["content"][JSON]
            examples = [example["value"] for example in media["examples"].values()]
            names = list(resolved(document, operation.body).get("properties", {"model": {}}))
            variants = [_changed(example, names, chance) for example in examples for _ in range(CHANGES)]
            yield operation.body["$ref"], examples + variants


def _places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The locations of a value and all values inside it."""
    yield at
    for key, child in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from _places(child, (*at, key))


def _changed(value: Any, names: list[str], chance: random.Random) -> Any:
    """The body with one to three parts replaced, removed or added."""
    root = [copy.deepcopy(value)]
    for _ in range(chance.randint(1, 3)):
        *steps, last = (0, *chance.choice(list(_places(root[0]))))
        node: Any = root
        for step in steps:
            node = node[step]
        action = chance.random()
        if isinstance(node[last], dict) and action < 0.6:
            node[last][chance.choice(names)] = copy.deepcopy(chance.choice(VALUES))
        elif steps and isinstance(node, dict) and action < 0.75:
            del node[last]
        else:
            node[last] = copy.deepcopy(chance.choice(VALUES))
    return root[0]
