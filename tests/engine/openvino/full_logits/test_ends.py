"""The tokens that end a turn are those that the pipeline heeds."""

import json
from pathlib import Path

from openvino_genai import ContinuousBatchingPipeline, SchedulerConfig

from specvino.engine.models import ModelSource
from specvino.engine.openvino.full_logits.ends import ends


def test_they_are_the_pipeline_s(tiny_text: ModelSource) -> None:
    config = ContinuousBatchingPipeline(str(tiny_text.path), SchedulerConfig(), "CPU").get_config()
    assert ends(str(tiny_text.path)) == {config.eos_token_id, *config.stop_token_ids}


def test_they_are_the_tokenizer_s_where_the_folder_says_nothing(tiny_text: ModelSource, tmp_path: Path) -> None:
    for file in tiny_text.path.iterdir():
        if file.name != "generation_config.json":
            (tmp_path / file.name).symlink_to(file)
    config = ContinuousBatchingPipeline(str(tmp_path), SchedulerConfig(), "CPU").get_config()
    assert ends(str(tmp_path)) == {config.eos_token_id, *config.stop_token_ids}


def test_several(tiny_text: ModelSource, tmp_path: Path) -> None:
    for file in tiny_text.path.iterdir():
        (tmp_path / file.name).symlink_to(file)
    (tmp_path / "generation_config.json").unlink()
    (tmp_path / "generation_config.json").write_text(json.dumps({"eos_token_id": [5, 6]}))
    assert ends(str(tmp_path)) == {5, 6}
