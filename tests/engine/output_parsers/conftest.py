"""A model that outputs given texts, as far as a grammar allows them."""

from collections.abc import Callable
from typing import Any

import pytest
from openvino_genai import Tokenizer
from support.speaker import Speaker

from specvino.engine.models import ModelSource


@pytest.fixture(scope="package")
def speaker(tiny_text: ModelSource, tmp_path_factory: pytest.TempPathFactory) -> Speaker:
    return Speaker(Tokenizer(tiny_text.path), tmp_path_factory.mktemp("speaker"))


Says = Callable[[dict[str, Any], str], str]


@pytest.fixture
def says(speaker: Speaker) -> Says:
    return speaker.says


Babbles = Callable[[dict[str, Any], int], str | None]


@pytest.fixture
def babbles(speaker: Speaker) -> Babbles:
    return speaker.babbles
