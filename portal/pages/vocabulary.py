"""The page of the document's own keywords, from openapi/vocabulary.yaml."""

import json
from collections.abc import Iterator
from typing import Any

from specvino.portal.pages import Page
from specvino.portal.source import Source

HEAD = """\
# Vocabulary

OpenAPI has no words for some of what the document says: who defined a field, how a server handles it, which systems
support it, and in which order the events of a stream come. These are its own keywords, each with its JSON Schema. Other
documents may use them, too: [`vocabulary.json`](openapi/vocabulary.json){ download="vocabulary.json" } has all of them
and depends on no other file.

| where | keywords |
| --- | --- |
"""


def pages(source: Source) -> Iterator[Page]:
    """Makes one page with a section for each keyword."""
    yield Page("vocabulary.md", "Vocabulary", "".join(_text(source.vocabulary["$defs"])))


def _text(definitions: dict[str, Any]) -> Iterator[str]:
    yield HEAD
    for name, definition in definitions.items():
        if name[0].isupper() and all(key.startswith("x-") for key in definition["properties"]):
            used = (f"[`{key}`](#{key})" for key in definition["properties"])
            yield f"| {name} | {', '.join(used)} |\n"
    for name, definition in definitions.items():
        if name.startswith("x-"):
            yield f"\n## `{name}` {{ #{name} }}\n\n{definition['description']}\n"
            for example in definition.get("examples", ()):
                yield f"\n```json\n{json.dumps({name: example}, ensure_ascii=False, indent=2)}\n```\n"
            schema = {key: value for key, value in definition.items() if key not in ("description", "examples")}
            text = json.dumps(schema, ensure_ascii=False, indent=2)
            block = _indented("```json\n" + text + "\n```")
            yield f'\n??? note "JSON Schema"\n\n{block}\n'


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.split("\n"))
