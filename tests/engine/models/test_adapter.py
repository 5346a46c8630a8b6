"""An adapter is applied in whole, or refused with the reason."""

from math import sqrt
from pathlib import Path
from typing import Any

import numpy
import pytest
from support.adapters import ALPHA, RANK, matrices, write, write_tensors

from specvino.engine.errors import ModelLoadError
from specvino.engine.models import resolve, with_adapter
from specvino.engine.models.adapter import adapter_file, read_adapter

QUERY = "model.layers.1.self_attn.q_proj"


def scales(folder: Path) -> dict[str, float]:
    return {module: lora.scale for module, lora in read_adapter(adapter_file(folder)).items()}


def test_the_scale_is_that_of_the_configuration(tmp_path: Path) -> None:
    content = matrices()
    assert set(scales(write(tmp_path / "plain", content)).values()) == {ALPHA / RANK}
    assert set(scales(write(tmp_path / "rslora", content, use_rslora=True)).values()) == {ALPHA / sqrt(RANK)}
    one = scales(write(tmp_path / "pattern", content, alpha_pattern={"layers.1.self_attn.q_proj": 1, "k_proj": 5}))
    assert {module for module, scale in one.items() if scale == 1 / RANK} == {QUERY}


def test_the_file_stands_for_its_folder(tmp_path: Path) -> None:
    folder = write(tmp_path / "a", matrices())
    file = folder / "adapter_model.safetensors"
    assert adapter_file(file) == adapter_file(folder) == file


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ({"peft_type": "IA3"}, "its peft_type must be LORA, not 'IA3'"),
        ({"use_dora": True}, "adapters with use_dora can't be applied"),
        ({"modules_to_save": ["lm_head"]}, "adapters with modules_to_save can't be applied"),
        ({"bias": "all"}, "adapters with bias 'all' can't be applied"),
        ({"init_lora_weights": "pissa_niter_4"}, "its init_lora_weights, 'pissa_niter_4', changed the base model"),
        ({"r": 8}, "are [4, 96] and [96, 4], but adapter_config.json states the rank 8"),
        ({"lora_alpha": None}, "lora_alpha must be a positive number, not None"),
        ({"r": True}, "r must be a positive number, not True"),
    ],
)
def test_a_configuration_that_is_refused(tmp_path: Path, config: dict[str, Any], reason: str) -> None:
    refused(write(tmp_path / "a", matrices(), **config), reason)


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        ([f"{QUERY}.lora_A.weight"], f"one of the two matrices of {QUERY} is missing"),
        ([f"{QUERY}.lora_magnitude_vector"], "it has tensors that aren't LoRA matrices of linear layers: base_model"),
        (["model.embed_tokens.lora_embedding_A"], "it has tensors that aren't LoRA matrices of linear layers"),
        ([], "it is empty"),
    ],
)
def test_tensors_that_are_refused(tmp_path: Path, names: list[str], reason: str) -> None:
    tensor = numpy.zeros((RANK, 96), numpy.float32)
    refused(write_tensors(tmp_path / "a", {f"base_model.model.{name}": tensor for name in names}), reason)


def test_a_file_that_is_damaged(tmp_path: Path) -> None:
    folder = write(tmp_path / "a", matrices())
    file = folder / "adapter_model.safetensors"
    whole = file.read_bytes()
    for damaged, reason in (
        (whole[:-1], f"has {len(whole) - 1:,} bytes, but its header describes {len(whole):,}"),
        (whole[:100], "is not a safetensors file, or is truncated"),
        (b"", "is not a safetensors file, or is truncated"),
        (whole.replace(b'"F32"', b'"F16"', 1), "is not a safetensors file, or is truncated"),
        (whole.replace(b'"F32"', b'"I32"', 1), "must be of the types F32, F16, BF16"),
    ):
        file.write_bytes(damaged)
        refused(folder, reason)


def test_what_is_no_adapter(tmp_path: Path) -> None:
    refused(tmp_path / "nowhere", "there is no such file or folder")
    refused(tmp_path, "is not an adapter in PEFT's format")
    folder = write(tmp_path / "a", matrices())
    (folder / "adapter_config.json").unlink()
    refused(folder, "there is no such file; it has the scale of the adapter's matrices")


def test_not_of_a_vision_language_model(tmp_path: Path) -> None:
    vision = resolve(str(Path(__file__).parents[2] / "models" / "tiny_vision"))
    with pytest.raises(ModelLoadError, match="is a vision-language model, to which no adapter can be applied"):
        with_adapter(vision, write(tmp_path / "a", matrices()))


def refused(folder: Path, reason: str) -> None:
    with pytest.raises(ModelLoadError) as raised:
        read_adapter(adapter_file(folder))
    assert reason in str(raised.value)
