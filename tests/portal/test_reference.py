"""The API reference of any document: what is in it is only shown."""

import json
from html.parser import HTMLParser
from typing import Any

import pytest
from support.hostile import HOSTILE

from specvino.portal.reference import page


class Read(HTMLParser):
    """The tags of a page, and the texts of its scripts."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.scripts: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)
        self.scripts += [""] * (tag == "script")

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1] == "script":
            self.scripts[-1] += data


def of(text: str) -> dict[str, Any]:
    """A document with a text wherever one can be."""
    schema = {"type": "object", "title": text, "description": text, "properties": {text: {"enum": [text]}}}
    answer = {"description": text, "content": {text: {"schema": schema, "examples": {text: {"value": text}}}}}
    operation = {"operationId": text, "summary": text, "tags": [text], "responses": {text: answer}}
    return {
        "openapi": "3.2.0",
        "info": {"title": text, "description": text, "version": text},
        "servers": [{"url": text}],
        "paths": {text: {"get": operation}},
        "components": {"schemas": {text: schema}},
    }


@pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in HOSTILE.items()])
def test_a_document_is_only_read(text: str) -> None:
    html = page("API reference", "docs/", of(text), sends=True)
    plain = page("API reference", "docs/", of("a"), sends=True)
    read = Read(html)
    assert read.tags == Read(plain).tags
    assert json.loads(read.scripts[0])["info"]["description"] == text
    assert html.count("<") == plain.count("<")
    assert html.isascii()
