"""The sizes of a model's layers, from its files."""

from pathlib import Path

import pytest
from support.qwen3_gguf import FEED, HEAD, HEADS, LAYERS, write

from specvino.engine.models import ModelSource
from specvino.engine.models.conversions import converted
from specvino.engine.models.dimensions import Dimensions, dimensions
from specvino.engine.openvino.messages.worker import LoadModel
from specvino.engine.openvino.worker.pipeline import state_sizes


def test_a_gguf_file_has_those_of_its_conversion(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPECVINO_CACHE", str(tmp_path / "cache"))
    gguf = write(tmp_path / "model.gguf")
    there = converted(gguf)
    assert there is not None
    assert dimensions(gguf) == dimensions(there.path)
    there.release()
    of_file = dimensions(gguf)
    assert (of_file.widest, of_file.keys, of_file.head, of_file.heads) == (FEED, HEADS * HEAD, HEAD, FEED // HEAD)
    assert of_file.cached == 2 * LAYERS * HEADS * (HEAD + 8)


def test_a_token_of_the_cache_takes_what_the_worker_reckons_with(tiny_text: ModelSource) -> None:
    sizes = state_sizes(LoadModel(str(tiny_text.path), 1))
    assert sizes is not None
    assert dimensions(tiny_text.path).cached == sizes.token


def test_experts_and_vocabularies(tmp_path: Path) -> None:
    """The rows of experts are a dimension further, and a vocabulary that is padded is no layer."""
    (tmp_path / "openvino_model.xml").write_text("""
        <data element_type="i8" shape="32000, 512" />
        <data element_type="f32" shape="32064, 512" />
        <data element_type="u4" shape="8, 1536, 4, 128" />
        <data element_type="i64" shape="40960, 512" />
        <data element_type="f32" shape="1, 64, 1" />""")
    assert dimensions(tmp_path) == Dimensions(vocabulary=32064, widest=1536)
    (tmp_path / "openvino_model.xml").write_text("")
    assert dimensions(tmp_path) == Dimensions()
