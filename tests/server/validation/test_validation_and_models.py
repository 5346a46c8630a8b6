"""What the validation accepts, pydantic builds: the same value, in and out."""

import copy
import json

import pytest
import schemathesis
from hypothesis import given

from specvino.document.loading import whole
from specvino.document.transforms import folded
from specvino.generated.handlers import OPERATIONS
from specvino.server.validation.schema import SchemaCheck

BODIES = [operation for operation in OPERATIONS.values() if operation.body]


@pytest.mark.hypothesis  # by the function inside
@pytest.mark.parametrize("operation", BODIES, ids=lambda operation: operation.id)
def test_every_valid_body_builds_its_object_and_dumps_equal_json(operation) -> None:
    judge = SchemaCheck.of_component(operation.body)
    document = copy.deepcopy(folded(whole()))  # Schemathesis 4.32 adds links of its own
    cases = schemathesis.openapi.from_dict(document)[operation.path][operation.method].as_strategy()

    @given(cases)
    def check(case):
        judge.require(case.body)
        built = operation.model.model_validate(case.body)
        assert json.loads(built.model_dump_json(exclude_unset=True, by_alias=True)) == case.body

    check()


def test_the_document_s_examples_dump_equal_json() -> None:
    for operation in BODIES:
        media = whole()["paths"][operation.path][operation.method.lower()]["requestBody"]["content"]
        for example in media["application/json"]["examples"].values():
            built = operation.model.model_validate(example["value"])
            assert json.loads(built.model_dump_json(exclude_unset=True, by_alias=True)) == example["value"]


def test_absent_and_null_stay_apart() -> None:
    model = OPERATIONS["create_chat_completion"].model
    body = {"model": "m", "messages": [{"role": "user"}], "temperature": None}
    assert json.loads(model.model_validate(body).model_dump_json()) == body
