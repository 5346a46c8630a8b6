"""Each kind of calls that templates have: read, forced and put back as the template writes it."""

from functools import cache
from pathlib import Path

import pytest
from openvino_genai import Tokenizer
from support.speaker import Speaker
from templates.exceptions import read
from templates.oracle import Oracle
from templates.rendering import Compared, compared
from templates.turns import CASES

from specvino.engine.models import ModelSource

KINDS = {file.stem: file.read_text("utf-8") for file in sorted(Path(__file__).with_name("kinds").iterdir())}
KNOWN = read(Path(__file__).with_name("exceptions.yaml"))


@cache
def oracle_of(kind: str) -> Oracle:
    return Oracle(KINDS[kind])


@pytest.fixture(scope="module")
def speaker(tiny_text: ModelSource, tmp_path_factory: pytest.TempPathFactory) -> Speaker:
    return Speaker(Tokenizer(tiny_text.path), tmp_path_factory.mktemp("speaker"))


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_call_is_what_the_template_writes(kind: str, case: str, speaker: Speaker) -> None:
    oracle = oracle_of(kind)
    assert oracle.writes_calls
    # What a grammar does with a long text is seen on the real templates: it takes the longest.
    failures = oracle.failures(case, speaker.says if case != "10 kB" else None)
    assert failures.keys() == KNOWN.failing(kind, case), failures


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_rendered_as_by_transformers(kind: str) -> None:
    assert compared(KINDS[kind], "parallel calls") is Compared.SAME


def test_exceptions_are_about_kinds_that_there_are() -> None:
    assert KINDS.keys() >= KNOWN.templates
