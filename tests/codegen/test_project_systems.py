"""What the documents of some systems take, by their sources."""

import pytest
from support.tiny_document import dialect, kind, object_of, ref, talk

from specvino.codegen.project import project
from specvino.document.loading import dialect_file, load
from specvino.document.operations import by_endpoint
from specvino.document.validator import Validators

TEXT = {"type": "string"}


def takes(system, endpoint, body):
    document = load(dialect_file(system))
    return Validators(document).of(by_endpoint(document)[endpoint].body or {}).fits(body)


@pytest.mark.parametrize(
    ("part", "fits"),
    [
        ({"type": "text", "text": "a"}, True),
        ({"type": "image_url", "image_url": "https://a/b.png"}, True),
        ({"type": "image_url", "image_url": {"url": "https://a/b.png"}}, True),
        ({"type": "video_url", "video_url": {"url": "https://a/b.mp4"}}, True),
        ({"type": "thinking", "thinking": "a"}, False),
        ({"type": "text"}, False),
    ],
)
def test_sglang_takes_parts_of_chat_in_messages_of_responses(part, fits) -> None:
    """protocol.py:1948, serving_responses.py: _normalize_response_content_part_for_chat, of SGLang 0.5.23."""
    body = {"model": "m", "input": [{"role": "user", "content": [part]}]}
    assert takes("sglang", "responses", body) is fits


@pytest.mark.parametrize(
    ("form", "fits"),
    [
        ({"type": "structural_tag", "triggers": [], "structures": [], "json_schema": 5}, True),
        ({"type": "text", "json_schema": 5}, False),
        ({"type": "json_schema", "json_schema": {"name": "n", "schema": {}}}, True),
        ({"type": "json_schema"}, False),
    ],
)
def test_fastdeploy_validates_a_schema_beside_every_type_but_structural_tag(form, fits) -> None:
    """protocol.py: StructuralTagResponseFormat has no json_schema."""
    body = {"messages": [{"role": "user", "content": "Hi"}], "response_format": form}
    assert takes("fastdeploy", "chat", body) is fits


@pytest.mark.parametrize(
    ("more", "fits"),
    [
        ({"grammar_lazy": True, "grammar_triggers": []}, False),
        ({"grammar_lazy": True, "grammar_triggers": [{"type": 1, "value": "a"}]}, True),
        ({"grammar_lazy": True}, True),
        ({"grammar_triggers": []}, True),
    ],
)
def test_llama_cpp_refuses_a_lazy_grammar_without_triggers(more, fits) -> None:
    """server-schema.cpp: the handler of grammar_triggers, which only runs where the request has them."""
    assert takes("llama-cpp", "completions", {"prompt": "a", **more}) is fits


def test_other_parts_are_branches_of_their_union() -> None:
    union = {
        "title": "Part",
        "oneOf": [ref("Text"), ref("Image")],
        "discriminator": {
            "propertyName": "type",
            "mapping": {"text": ref("Text")["$ref"], "image": ref("Image")["$ref"]},
        },
    }
    document = talk(
        object_of(part=ref("Part")), Part=union, Text=kind("text", text=TEXT), Image=kind("image", url=TEXT)
    )
    own = {"properties": {"type": {"const": "film"}, "film": TEXT}, "required": ["type", "film"]}
    head = {"schemas": {"Film": {"type": "object", "title": "Film", **own}}, "other_parts": {"Part": {"film": "Film"}}}
    theirs = project(document, dialect(request={"part": "full"}, response={}) | head)
    assert theirs["components"]["schemas"]["Part"]["discriminator"]["mapping"]["film"] == ref("Film")["$ref"]
    check = Validators(theirs).of(ref("Ask"))
    assert check.fits({"part": {"type": "film", "film": "x"}})
    assert not check.fits({"part": {"type": "film"}})
    assert check.fits({"part": {"type": "text", "text": "x"}})
    without = Validators(project(document, dialect(request={"part": "full"}, response={})))
    assert not without.of(ref("Ask")).fits({"part": {"type": "film", "film": "x"}})
