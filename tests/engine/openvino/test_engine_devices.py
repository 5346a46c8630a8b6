"""The engine on OpenVINO's devices that are made of others, as far as there is a CPU."""

from dataclasses import replace
from typing import Any

import pytest
from support.conversation import answer, ask, text
from support.engines import idle, running
from support.exhaustive import sampled

from specvino.engine.models import ModelSource
from specvino.engine.openvino.engine import OpenVINOEngine
from specvino.engine.openvino.messages.options import PipelineOptions

DEVICES = ["CPU", "AUTO", "AUTO:CPU", "HETERO:CPU", "BATCH:CPU"]


def answers(source: ModelSource, device: str, **settings: Any) -> tuple[list[str], int | None]:
    """Greedy texts, and how many tokens fit into the cache."""
    texts: list[str] = []
    fits: list[int | None] = []

    async def test(engine: OpenVINOEngine) -> None:
        for question in ("hello", "count"):
            texts.append(text(await answer(engine, ask(question, max_tokens=20))))
        # The full-logits process, too: logprobs of a prompt.
        texts.append(text(await answer(engine, replace(ask("hello", max_tokens=4), echo=True, logprobs=True))))
        await idle(engine)
        fits.append(engine.stats().cache_tokens)

    running(source, test, cache_size=1, options=PipelineOptions(device=device), **settings)
    return texts, fits[0]


@pytest.fixture(scope="module")
def on_cpu(tiny_text: ModelSource) -> tuple[list[str], int | None]:
    return answers(tiny_text, "CPU")


@pytest.mark.parametrize("device", sampled(DEVICES[1:], "AUTO", "HETERO:CPU"))
def test_it_computes_as_on_the_cpu_itself(
    tiny_text: ModelSource, on_cpu: tuple[list[str], int | None], device: str
) -> None:
    assert answers(tiny_text, device) == on_cpu


@pytest.mark.parametrize("device", sampled(["AUTO:CPU", "HETERO:CPU"], "HETERO:CPU"))
def test_with_a_draft_model(tiny_text: ModelSource, on_cpu: tuple[list[str], int | None], device: str) -> None:
    assert answers(tiny_text, device, draft_model=tiny_text)[0] == on_cpu[0]


def test_properties_have_an_effect_there(tiny_text: ModelSource, on_cpu: tuple[list[str], int | None]) -> None:
    fits: list[int | None] = []

    async def test(engine: OpenVINOEngine) -> None:
        fits.append(engine.stats().cache_tokens)

    options = PipelineOptions(plugin_config={"KV_CACHE_PRECISION": "f16"}, device="HETERO:CPU")
    running(tiny_text, test, cache_size=1, options=options)
    assert 0 < (fits[0] or 0) < (on_cpu[1] or 0)
