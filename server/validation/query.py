"""The parameters of a query string, as values of the types that the document gives them."""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl

from specvino.generated.handlers import QueryParameter

_WORDS = {"true": True, "false": False}
_INTEGER = re.compile(r"-?[0-9]{1,18}")


def parse(raw: bytes, known: Mapping[str, QueryParameter]) -> dict[str, Any]:
    """Returns the values by name; the last one counts where a name stands twice, unless it is a list.

    A list is a name that is repeated, as it is or with brackets (`include[]=a`), which is how OpenAI's clients send it.
    What can't be read as its type stays a text, for the document to refuse.
    """
    values: dict[str, Any] = {}
    for name, text in parse_qsl(raw.decode("latin-1"), keep_blank_values=True):
        bare = re.sub(r"\[[0-9]*\]$", "", name)
        if bare in known and known[bare].kind == "array":
            values.setdefault(bare, []).append(text)
        else:
            values[name] = _typed(text, known[name].kind) if name in known else text
    return values


def _typed(text: str, kind: str) -> Any:
    if kind == "boolean":
        return _WORDS.get(text, text)
    return int(text) if kind == "integer" and _INTEGER.fullmatch(text) else text
