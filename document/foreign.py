"""OpenAPI documents of others, of which nothing is known."""

import json
import re
from itertools import islice
from typing import Any

import yaml

from specvino.document import yaml_text

LARGEST = 50_000_000
"""Characters of a document."""

MOST_VALUES = 5_000_000
"""Keys, values and marks of a document of YAML, in JSON. OpenAI's (2.3.0) has 213,157."""


def parse(text: str) -> dict[str, Any]:
    """Returns a document of JSON or YAML, with the types of JSON alone. Raises ValueError, which says what the text is
    instead: "isn't …"."""
    if len(text) > LARGEST:
        raise ValueError(f"is too large: more than {LARGEST:,} characters")
    try:
        document = json.loads(text) if text.lstrip().startswith("{") else _of_yaml(text)
    except (json.JSONDecodeError, RecursionError, yaml.YAMLError) as error:
        raise ValueError(f"is neither JSON nor YAML: {str(error).splitlines()[0]}") from None
    if not isinstance(document, dict) or not re.match(r"3\.[012]", str(document.get("openapi"))):
        raise ValueError("isn't an OpenAPI document of version 3.0, 3.1 or 3.2")
    try:
        json.dumps(document, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise ValueError("isn't Unicode: it has half of a surrogate pair") from None
    return document


def _of_yaml(text: str) -> Any:
    """YAML has keys that are no texts, dates, and aliases: a few of them can stand for gigabytes."""
    try:
        encoded = json.JSONEncoder(default=str, skipkeys=True).iterencode(yaml_text.load(text))
        parts = list(islice(encoded, MOST_VALUES + 1))
    except ValueError as error:  # an alias within what it stands for, or no date
        raise yaml.YAMLError(str(error)) from None
    if len(parts) > MOST_VALUES:
        raise ValueError(f"is too large: more than {MOST_VALUES:,} values, with aliases")
    return json.loads("".join(parts))
