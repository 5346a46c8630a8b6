"""The document for Connexion, and for the model generator."""

import copy
import json

from openapi_spec_validator import OpenAPIV30SpecValidator

from specvino.codegen import lower
from specvino.document.walk import all_schemas, descend


def test_routes_are_valid_30_without_schemas(real) -> None:
    routes = lower.to_routes(real.document)
    assert list(OpenAPIV30SpecValidator(routes).iter_errors()) == []
    assert "$ref" not in json.dumps(routes)
    assert routes["paths"]["/models/{model}"]["get"]["parameters"][0]["schema"]["format"] == "path"
    parameters = routes["paths"]["/responses/{response_id}/input_items"]["get"]["parameters"]
    assert [each["name"] for each in parameters] == ["response_id"], "the server itself validates queries"
    assert routes["paths"]["/health"]["get"]["security"] == []
    assert routes["paths"]["/health"]["get"]["x-served-at-root"] is True


def test_models_see_shapes_only(real) -> None:
    schemas = lower.for_models(real.document)["components"]["schemas"]
    document = {"paths": {}, "components": {"schemas": schemas}}
    for place, schema in all_schemas(document):
        assert not schema.keys() & {*lower.VALIDATING, "default", "examples"}, place
        assert not [key for key in schema if key.startswith("x-")], place
    assert "allOf" not in schemas["CreateChatCompletionRequest"]


def test_titles_of_components_alone_name_classes(real) -> None:
    schemas = lower.for_models(real.document)["components"]["schemas"]
    for name, schema in schemas.items():
        titles = [each["title"] for _, each in descend(schema, name) if "title" in each]
        assert titles == [name]


def test_properties_may_be_called_like_keywords(spec, schemas) -> None:
    schemas["Version"]["properties"] |= {"default": {"type": "string"}, "pattern": {"type": "string"}}
    lowered = lower.for_models(spec.document)["components"]["schemas"]
    assert set(lowered["Version"]["properties"]) == {"version", "default", "pattern"}


def test_nothing_is_changed_in_place(spec) -> None:
    before = copy.deepcopy(spec.document)
    lower.to_routes(spec.document)
    lower.for_models(spec.document)
    assert spec.document == before
