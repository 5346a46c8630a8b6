"""The real specification, to read and to break."""

import copy
from pathlib import Path

import pytest

from specvino.codegen.spec import Spec, read

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def real() -> Spec:
    """Read once; not to be changed."""
    return read(ROOT / "openapi")


@pytest.fixture
def spec(real) -> Spec:
    """A copy of the test's own."""
    return copy.deepcopy(real)


@pytest.fixture
def schemas(spec):
    """The component schemas of `spec`."""
    return spec.document["components"]["schemas"]


@pytest.fixture
def request_fields(schemas):
    """The properties of a chat request in `spec`."""
    return schemas["CreateChatCompletionRequest"]["properties"]


@pytest.fixture
def chat(spec):
    """The chat operation of `spec`."""
    return spec.document["paths"]["/chat/completions"]["post"]
