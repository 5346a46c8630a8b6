"""Tiny models over the vocabularies of large ones (tests/models/README.md), built for the session one after another."""

import shutil
from collections.abc import Callable, Iterator

import pytest
from models.vocabularies.build import build
from models.vocabularies.families import FAMILIES
from models.vocabularies.family import Family
from openvino_genai import Tokenizer
from support.conversation import answer
from support.engines import Sharing
from support.exhaustive import sampled

from specvino.engine.models import ModelSource, resolve
from specvino.engine.openvino.engine import OpenVINOEngine
from specvino.engine.openvino.native.tokenizer import load_tokenizer
from specvino.engine.openvino.preprocess.preprocessor import Preprocessor
from specvino.engine.request import GenerationRequest
from specvino.engine.segments import Segment

Answered = Callable[..., list[Segment]]


# One of byte-level BPE, one of SentencePiece; the others are of the first kind.
@pytest.fixture(scope="package", params=sampled(FAMILIES, "qwen", "mistral"))
def family(request: pytest.FixtureRequest) -> Family:
    return FAMILIES[request.param]()


@pytest.fixture(scope="package")
def source(family: Family, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModelSource]:
    """A model with random weights: nobody knows what it says, but it says the same each time."""
    folder = tmp_path_factory.mktemp(family.name)
    build(family, folder)
    yield resolve(str(folder))
    shutil.rmtree(folder)  # up to 70 MB, which pytest would keep


@pytest.fixture(scope="package")
def tokenizer(source: ModelSource) -> Tokenizer:
    return load_tokenizer(source.path)


@pytest.fixture(scope="package")
def preprocessor(tokenizer: Tokenizer) -> Preprocessor:
    return Preprocessor(tokenizer)


@pytest.fixture(scope="package")
def answered(source: ModelSource, sharing: Sharing) -> Answered:
    """Asks an engine that is started once for a family. Thoughts are not looked for, unless the parser is named: random
    weights, once they think, think on."""

    def answers(request: GenerationRequest, reasoning_parser: str = "none") -> list[Segment]:
        segments: list[Segment] = []

        async def test(engine: OpenVINOEngine) -> None:
            segments.extend(await answer(engine, request))

        sharing(source, test, reasoning_parser=reasoning_parser)
        return segments

    return answers
