"""The skeleton for Connexion."""

import copy
import json

from openapi_spec_validator import OpenAPIV30SpecValidator

from specvino.codegen.emit.documents import to_routes


def test_routes_are_valid_30_without_schemas(real) -> None:
    routes = to_routes(real.document)
    assert list(OpenAPIV30SpecValidator(routes).iter_errors()) == []
    assert "$ref" not in json.dumps(routes)
    assert routes["paths"]["/models/{model}"]["get"]["parameters"][0]["schema"]["format"] == "path"
    parameters = routes["paths"]["/responses/{response_id}/input_items"]["get"]["parameters"]
    assert [parameter["name"] for parameter in parameters] == ["response_id"], "the server itself validates queries"
    assert routes["paths"]["/health"]["get"]["security"] == []
    assert routes["paths"]["/health"]["get"]["x-served-at-root"] is True


def test_nothing_is_changed_in_place(spec) -> None:
    before = copy.deepcopy(spec.document)
    to_routes(spec.document)
    assert spec.document == before
