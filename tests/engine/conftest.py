"""Both kinds of byte-level vocabularies: one converted from safetensors, one from GGUF."""

from typing import Any

import pytest
from openvino_genai import Tokenizer

from specvino.engine.models import ModelSource
from specvino.engine.openvino.preprocess.preprocessor import Preprocessor


@pytest.fixture(scope="package", params=["tiny_text", "smollm2"])
def source(request: pytest.FixtureRequest) -> ModelSource:
    model: ModelSource = request.getfixturevalue(request.param)
    return model


@pytest.fixture(scope="package")
def tokenizer(source: ModelSource) -> Tokenizer:
    return Tokenizer(source.path)


@pytest.fixture(scope="package")
def preprocessor(tokenizer: Tokenizer) -> Preprocessor:
    return Preprocessor(tokenizer)


@pytest.fixture(scope="package")
def table(preprocessor: Preprocessor) -> Any:
    """The vocabulary's byte table: both have one."""
    table = preprocessor.vocabulary().table
    assert table is not None
    return table
