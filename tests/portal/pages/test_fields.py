"""What the pages say of a field is what all who have it say, and what every system takes of it."""

import json
import re
from html import unescape

import pytest
from support.portal import SOURCE

from specvino.cli.docs import parts
from specvino.document.pointers import component_name
from specvino.portal.pages import endpoints, matrix
from specvino.portal.source import TITLES
from specvino.portal.words import values


def plain(page):
    """A page's text without its marks."""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", page.replace("<wbr>", ""))).split())


@pytest.fixture(scope="module")
def articles():
    """What the pages of endpoints say of each field, beside the systems' levels."""
    pages = "".join(page.text for page in endpoints.pages(SOURCE))
    matches = re.findall(r'<article class="field"><h3 id="([^"]*)">(.*?)<p class="levels">', pages, re.DOTALL)
    return {name: plain(article) for name, article in matches}


@pytest.fixture(scope="module")
def rows():
    """The columns of each field in the matrix: what it is, what becomes of it here, and a cell for each system."""
    [page] = matrix.Matrix(SOURCE, parts().evidence, "").pages()
    matches = re.findall(r'<tr id="([^"]*)"[^>]*>(.*?)</tr>', page.text, re.DOTALL)
    return {name: [plain(cell) for cell in re.split(r"<t[hd]\b[^>]*>", row)[1:]] for name, row in matches}


def shown(text):
    return " ".join(text.replace("`", " ").split())


HANDLING = {
    "supported": "supported",
    "accepted": "no effect",
    "refused": "always rejected",
    "unsupported": "not supported here",
    "never": "not sent",
    "null": "always null",
}


def test_every_owner_of_a_field_is_told(articles, rows) -> None:
    merged = 0
    for field in SOURCE.fields:
        if field.endpoint == "error":
            continue
        words, here, *_ = rows[field.name]
        article = articles[field.name]
        for owner in field.owners:
            schema = owner.schema
            kinds = [schema["const"]] if "const" in schema else schema.get("enum", [])
            assert all(json.dumps(kind) in article for kind in kinds), field.name
            described = shown(schema.get("description", ""))
            assert described in article, field.name
            assert described in words, field.name
            handling = field.handling(schema)
            handling = shown(HANDLING.get(handling, f"sent {handling}"))
            assert handling in article, field.name
            assert handling in here, field.name
            if "x-implementation-note" in schema:
                assert shown(schema["x-implementation-note"]) in article, field.name
            if "$ref" in schema and "x-implementation-note" in (
                target := SOURCE.schemas[component_name(schema["$ref"])]
            ):
                assert shown(target["x-implementation-note"]) in article, field.name
        merged += len(field.owners) > 1
    assert merged > 30


def test_the_values_of_all_branches_are_one_list(articles) -> None:
    roles = '"assistant" , "developer" , "function" , "system" , "tool" , "user"'
    assert articles["chat.messages[].role"] == f"messages[].role {roles} supported The role of the message's author."


def test_branches_that_differ_stand_apart(articles, rows) -> None:
    kind = articles["chat.messages[].content[].type"]
    refused, taken = kind.split("not supported here")
    assert all(name in refused for name in ('"input_audio"', '"file"', '"video_url"'))
    assert '"image_url" , "refusal" , "text" : supported' in taken
    content = articles["chat.messages[].content"]
    assert "DeveloperMessage, SystemMessage: string or list of TextPart or null" in content
    assert "UserMessage: string or list of (TextPart or ImagePart or" in content
    assert content.count("supported") == 1
    assert "FunctionMessage, ToolMessage: The result." in rows["chat.messages[].content"][0]
    assert rows["chat.messages[].content"][1] == "supported"


def test_what_lies_in_a_field_without_effect_has_none(articles) -> None:
    assert "always rejected here" in articles["responses.prompt.id"]


def test_values_that_alone_are_supported(articles, rows) -> None:
    limited = 0
    for field in SOURCE.fields:
        for owner in field.owners:
            if (
                field.part == "request"
                and "x-supported-values" in owner.schema
                and field.handling(owner.schema) != "accepted"
            ):
                wanted = shown(values(owner.schema["x-supported-values"]))
                assert wanted in rows[field.name][1], field.name
                assert wanted in articles[field.name], field.name
                limited += 1
    assert limited > 10
    assert rows["chat.service_tier"][1] == "not supported here, except auto, default"
    assert "supported for auto, low, high" in rows["chat.messages[].content[].image_url.detail"][1]


def test_what_a_system_takes_and_sends_and_what_is_noted_of_it(rows) -> None:
    note = "Others are a 422; tool is a 500 with templates without such a role, which are most."
    assert f"partial {note} values system, user, assistant, tool" in rows["chat.messages[].role"]
    count = 0
    for field in SOURCE.fields:
        for entry in (field.owners[0].schema["x-support"][field.name]).values():
            if not isinstance(entry, str) and "note" in entry:
                assert any(shown(entry["note"]) in cell for cell in rows[field.name][2:]), field.name
            if not isinstance(entry, str) and "schema" in entry:
                assert any(shown(values(entry["schema"])) in cell for cell in rows[field.name][2:]), field.name
                count += 1
    assert count > 50


def test_each_endpoint_has_a_heading() -> None:
    endpoints = {operation.endpoint for operation in SOURCE.operations}
    assert TITLES.keys() == endpoints | {"error"}, "TITLES in portal/source.py"
