"""A model that outputs the texts that templates write."""

import pytest
from openvino_genai import Tokenizer
from support.speaker import Speaker

from specvino.engine.models import ModelSource


@pytest.fixture(scope="session")
def speaker(tiny_text: ModelSource, tmp_path_factory: pytest.TempPathFactory) -> Speaker:
    return Speaker(Tokenizer(tiny_text.path), tmp_path_factory.mktemp("speaker"))
