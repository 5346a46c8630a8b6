"""The words of an x-stream table, as openapi/vocabulary.yaml has them."""

from collections.abc import Iterator
from typing import Any

from specvino.codegen.lint.vocabulary import Vocabulary, validator


def words(vocabulary: Vocabulary, table: Any) -> Iterator[str]:
    """Yields misspelt, missing and surplus words, each with the machine or the law in which it stands."""
    said = table.get("laws") if isinstance(table, dict) else None
    laws = said if isinstance(said, list) else []
    known = vocabulary["$defs"]["law"]["properties"]["law"]["enum"]
    for law in laws:
        if isinstance(law, str | dict) and (name := entry(law).get("law")) not in known:
            yield f"there is no law {name!r}; known are {', '.join(known)}"
            return
    for error in validator(vocabulary, "x-stream").errors(table):
        match error.instance_path:
            case ["machines", name, *path]:
                place = [f"machine {name}", *path]
            case ["laws", int(index), *path] if isinstance(laws[index], str | dict):
                place = [f"law {entry(laws[index])['law']}", *path]
            case ["classify", int(), *path]:
                place = ["classify", *path]
            case path:
                place = path
        yield ": ".join(filter(None, [*map(str, place[:1]), ".".join(map(str, place[1:])), error.message]))


def entry(law: str | dict[str, Any]) -> dict[str, Any]:
    """Returns a law as an object, also where it is its name alone."""
    return {"law": law} if isinstance(law, str) else dict(law)
