"""The source put together."""

import pytest

from specvino.codegen.source import SpecError
from specvino.codegen.spec import read


def test_errors_and_support_are_merged(real) -> None:
    schemas = real.document["components"]["schemas"]
    assert schemas["ErrorCode"]["enum"] == list(real.errors["codes"])
    assert schemas["ErrorType"]["enum"] == list(real.errors["types"])
    support = schemas["Model"]["properties"]["id"]["x-support"]
    assert set(support) == {"model.response.id", "models.response.data[].id"}
    assert set(support["model.response.id"]) == set(real.dialects)


def test_another_folder(tmp_path) -> None:
    with pytest.raises(SpecError, match=r"openapi\.yaml does not exist"):
        read(tmp_path)
