"""Tiny models over the vocabularies of large ones (tests/models/README.md), built for the session one after another."""

import asyncio
import shutil
from collections.abc import Callable, Iterator

import pytest
from models.vocabularies.build import build
from models.vocabularies.families import FAMILIES
from models.vocabularies.family import Family
from openvino_genai import Tokenizer
from support.conversation import answer
from support.engines import PATIENCE
from support.processes import leaving_no_process

from specvino.engine.models import ModelSource, resolve
from specvino.engine.openvino.engine import OpenVINOEngine
from specvino.engine.openvino.native.tokenizer import load_tokenizer
from specvino.engine.openvino.preprocess.preprocessor import Preprocessor
from specvino.engine.request import GenerationRequest
from specvino.engine.segments import Segment

Answered = Callable[[GenerationRequest], list[Segment]]


@pytest.fixture(scope="package", params=FAMILIES)
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


@pytest.fixture(scope="module")
def answered(source: ModelSource) -> Iterator[Answered]:
    """Asks an engine that runs. Thoughts are not looked for: random weights, once they think, think on."""
    engine = OpenVINOEngine(source, reasoning_parser="none")

    async def asked(request: GenerationRequest) -> list[Segment]:
        async with asyncio.timeout(PATIENCE):
            return await answer(engine, request)

    with leaving_no_process(), asyncio.Runner() as runner:
        runner.run(engine.start())
        try:
            yield lambda request: runner.run(asked(request))
        finally:
            runner.run(engine.close())
