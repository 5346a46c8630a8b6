"""The document for the model generator."""

import copy

from specvino.codegen.emit.classes import VALIDATING, for_models
from specvino.document.walk import all_schemas, descend


def test_models_see_shapes_only(real) -> None:
    schemas = for_models(real.document)["components"]["schemas"]
    document = {"paths": {}, "components": {"schemas": schemas}}
    for location, schema in all_schemas(document):
        assert not schema.keys() & {*VALIDATING, "default", "examples"}, location
        assert not [key for key in schema if key.startswith("x-")], location
    assert "allOf" not in schemas["CreateChatCompletionRequest"]


def test_titles_of_components_alone_name_classes(real) -> None:
    schemas = for_models(real.document)["components"]["schemas"]
    for name, schema in schemas.items():
        titles = [inner["title"] for _, inner in descend(schema, name) if "title" in inner]
        assert titles == [name]


def test_properties_may_be_called_like_keywords(spec, schemas) -> None:
    schemas["Version"]["properties"] |= {"default": {"type": "string"}, "pattern": {"type": "string"}}
    lowered = for_models(spec.document)["components"]["schemas"]
    assert set(lowered["Version"]["properties"]) == {"version", "default", "pattern"}


def test_nothing_is_changed_in_place(spec) -> None:
    before = copy.deepcopy(spec.document)
    for_models(spec.document)
    assert spec.document == before
