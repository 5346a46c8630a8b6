"""What a model's processes need, by its files."""

from dataclasses import replace
from pathlib import Path

import pytest
from support.qwen3_gguf import write

from specvino.engine.models import ModelSource
from specvino.engine.openvino.client.memory_needs import GB, needs
from specvino.engine.openvino.messages.options import PipelineOptions
from specvino.engine.openvino.messages.worker import LONGEST_DRAFTED

MB = 2**20

# Embeddings of 4,096 tokens and a layer that is 1,024 wide, with 4 bits.
GRAPH = """
    <data element_type="u4" shape="4096, 1024" offset="0" size="2097152" />
    <data element_type="u4" shape="1024, 32, 32" offset="0" size="524288" />
    <data element_type="f16" shape="1024, 64, 1" offset="0" size="131072" />
    <data element_type="f16" shape="1024, 1" offset="0" size="2048" />
    <data element_type="f16" shape="1, 1024" offset="0" size="2048" />
    <data variable_id="k" variable_type="f32" variable_shape="?,2,?,64" />
    <data variable_id="v" variable_type="f32" variable_shape="?,2,?,64" />"""

# A step of 256 tokens in a layer of that width.
STEP = 256 * 1024 * 8 * 4


@pytest.fixture
def folder(tmp_path: Path) -> ModelSource:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "openvino_model.bin").write_bytes(b"\0" * 4 * MB)
    (tmp_path / "folder" / "openvino_model.xml").write_text(GRAPH)
    return ModelSource(tmp_path / "folder", context_length=100_000, defaults={}, gguf=False)


@pytest.fixture
def gguf(tmp_path: Path) -> ModelSource:
    return ModelSource(write(tmp_path / "model.gguf"), context_length=512, defaults={}, gguf=True)


def test_they_grow_with_the_weights(folder: ModelSource) -> None:
    quantized = needs(folder)
    assert quantized.weights == 4 * MB
    assert quantized.worker == quantized.undrafted == 6 * MB + 250 * MB + STEP
    assert quantized.full_logits == quantized.worker + 256 * 4096 * 4 * 3
    adapted = needs(replace(folder, adapter=folder.path / "openvino_model.bin"))
    assert adapted.worker == quantized.worker + int(4 * MB * 4.4)
    assert adapted.weights == 8 * MB
    with (folder.path / "openvino_model.xml").open("a") as xml:
        xml.write('<data element_type="f16" shape="1024, 1024" offset="0" size="2097152" />')
    assert needs(folder).worker == int(2 * MB * 4.4 + 2 * MB * 1.5) + 250 * MB + STEP


def test_they_grow_with_the_step(folder: ModelSource) -> None:
    plain, larger = needs(folder), needs(folder, options=PipelineOptions(512))
    assert larger.worker == plain.worker + STEP
    assert larger.full_logits == plain.full_logits + STEP + 256 * 4096 * 4 * 3


def test_a_draft_model_takes_memory_in_the_worker(folder: ModelSource) -> None:
    """Its step computes whole prompts, so that --max-num-batched-tokens has no effect on it."""
    plain, drafting = needs(folder), needs(folder, folder)
    assert drafting.undrafted == plain.worker
    assert drafting.worker == 2 * (6 * MB + 2 * LONGEST_DRAFTED // 256 * STEP) + 250 * MB
    assert drafting.worker == needs(folder, folder, options=PipelineOptions(512)).worker
    assert (plain.least_cache, drafting.least_cache) == (GB // 8, 2 * GB)
    assert drafting.read == 2 * plain.read


def test_a_context_is_as_long_as_the_cache_and_the_model_allow(folder: ModelSource) -> None:
    plain = needs(folder)
    assert plain.cached == 2 * 2 * (64 + 8)
    longest = 20_000
    assert plain.reading(longest * plain.cached) == longest * plain.read
    assert plain.reading(GB) == 100_000 * plain.read
    assert plain.read > 2 * 2 * 64 * 4


def test_a_file_that_is_not_converted_takes_more(gguf: ModelSource) -> None:
    converted, unconverted = needs(gguf, converted=True), needs(gguf)
    assert unconverted.weights == converted.weights == gguf.path.stat().st_size
    assert unconverted.worker - converted.worker == int(gguf.path.stat().st_size * 3.2) - int(
        gguf.path.stat().st_size * 1.5
    )
    assert (converted.unconverted, converted.preprocess, converted.least_cache) == (None, 0, GB // 8)
    assert (unconverted.unconverted, unconverted.least_cache) == (gguf.path, GB)
    assert unconverted.preprocess == int(gguf.path.stat().st_size * 2.3)


@pytest.mark.parametrize(
    "options", [PipelineOptions(device="GPU"), PipelineOptions(plugin_config={"KV_CACHE_PRECISION": "f16"})]
)
def test_a_cache_of_tokens_of_unknown_size_has_whole_gigabytes(folder: ModelSource, options: PipelineOptions) -> None:
    assert needs(folder, options=options).least_cache == GB
