from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from specvino.engine.openvino.messages.options import PipelineOptions
from specvino.engine.openvino.messages.worker import LoadModel
from specvino.engine.openvino.worker.pipeline import StateSizes, capacity, state_sizes

KEYS, CONVOLUTION, MATRIX = "?,2,?,16", "?,64,3", "?,4,16,16"


def settings(folder: Path, *shapes: str, **options: Any) -> LoadModel:
    states = "".join(f'<data variable_id="{at}" variable_shape="{shape}"/>' for at, shape in enumerate(shapes))
    (folder / "openvino_model.xml").write_text(states)
    return LoadModel(str(folder), max_sequences=1, options=PipelineOptions(**options))


def test_what_a_token_and_a_sequence_take(tmp_path: Path) -> None:
    assert state_sizes(settings(tmp_path, KEYS, KEYS)) == StateSizes(2 * 2 * (16 + 8), 0)
    hybrid = settings(tmp_path, KEYS, KEYS, CONVOLUTION, MATRIX)
    assert state_sizes(hybrid) == StateSizes(2 * 2 * (16 + 8), 4 * (64 * 3 + 4 * 16 * 16))


def test_it_is_not_known(tmp_path: Path) -> None:
    assert state_sizes(settings(tmp_path, MATRIX)) is None
    assert state_sizes(settings(tmp_path, KEYS, plugin_config={"KV_CACHE_PRECISION": "f16"})) is None


class Pipeline:
    """Has 200 blocks for tokens, and a checkpoint for every eight: what GenAI 2026.4.1 reports of LFM2 with this."""

    def __init__(self, checkpoints: int) -> None:
        self.usage = 100 / (checkpoints or 200)
        self.metrics = SimpleNamespace(
            cache_usage=self.usage,
            la_peak_pool_blocks=checkpoints,
            cache_size_in_bytes=200 * 32 * 96 + checkpoints * 1536,
        )

    def add_request(self, *arguments: object) -> Any:
        return SimpleNamespace(cancel=lambda: None)

    def step(self) -> None: ...

    def get_metrics(self) -> Any:
        return self.metrics


@pytest.mark.parametrize(("checkpoints", "tokens"), [(0, 6400), (25, 5888)])
def test_checkpoints_of_linear_attention_are_no_blocks_of_tokens(checkpoints: int, tokens: int) -> None:
    """With 5,888 tokens a sequence of LFM2 ran to its end; 6,400 didn't fit."""
    pipeline: Any = Pipeline(checkpoints)
    assert capacity(pipeline, None, 32, StateSizes(96, 1536)) == tokens
