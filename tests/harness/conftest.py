"""A server with the tiny model, and how likely that says its tokens are."""

from pathlib import Path

import pytest
from openvino_genai import Tokenizer
from support.scores import Scores
from support.serving import serving

from specvino.engine.models import resolve

TINY = Path(__file__).parents[1] / "models/tiny_text"


@pytest.fixture(scope="session")
def url():
    with serving(str(TINY), "--served-model-name", "tiny") as server:
        yield server.url


@pytest.fixture(scope="session")
def scores():
    return Scores(resolve(str(TINY)))


@pytest.fixture(scope="session")
def ids():
    """What makes tokens of a text."""
    tokenizer = Tokenizer(TINY)
    return lambda text: list(tokenizer.encode(text, add_special_tokens=False).input_ids.data[0])
