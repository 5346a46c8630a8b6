"""A model with an adapter says what it would say with merged weights."""

import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy
import openvino
import pytest
from openvino import opset13
from support.adapters import SCALE, Matrices, matrices, write
from support.qwen3_gguf import FEED, HEAD, HEADS, WIDTH
from support.qwen3_gguf import write as write_gguf

from specvino.engine.errors import ModelLoadError
from specvino.engine.models import ModelSource, resolve, with_adapter
from specvino.engine.models.cache import entries
from specvino.engine.models.conversions import settled

Logits = numpy.typing.NDArray[numpy.float32]

MODEL = "openvino_model.xml"
IDS = numpy.arange(30, 50, dtype=numpy.int64)[None]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SPECVINO_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def logits(model: openvino.Model) -> Logits:
    exact = {"INFERENCE_PRECISION_HINT": "f32", "DYNAMIC_QUANTIZATION_GROUP_SIZE": 0}
    request = openvino.Core().compile_model(model, "CPU", exact).create_infer_request()
    values = {
        "input_ids": IDS,
        "attention_mask": numpy.ones_like(IDS),
        "position_ids": numpy.arange(IDS.shape[1])[None],
        "beam_idx": numpy.zeros(1, numpy.int32),
    }
    computed: Logits = request.infer(values)["logits"]
    return computed.copy()


def read(folder: Path) -> openvino.Model:
    return openvino.Core().read_model(folder / MODEL)


def merge(model: openvino.Model, content: Matrices, module_of: Callable[[openvino.Node], str | None]) -> None:
    """Adds the products of the matrices to the weights of the modules."""
    left = dict(content)
    for node in model.get_ordered_ops():
        if node.get_type_name() == "MatMul" and (module := module_of(node)) in left:
            a, b = left.pop(module)
            weights = node.input_value(1).get_node().input_value(0).get_node().data.astype(numpy.float32)
            node.input(1).replace_source_output(opset13.constant(weights + SCALE * (b @ a)).output(0))
    assert not left


@pytest.mark.parametrize("dtype", ["F32", "F16", "BF16"])
def test_it_is_the_model_with_merged_weights(tiny_text: ModelSource, tmp_path: Path, dtype: str) -> None:
    content = matrices()
    source = with_adapter(tiny_text, write(tmp_path / "a", content, dtype=dtype))
    found, _ = settled(source)
    assert (found.adapter, found.context_length, found.defaults) == (None, source.context_length, source.defaults)
    merged = read(tiny_text.path)
    merge(merged, content, lambda node: node.get_friendly_name().removeprefix("__module.").partition("/")[0])
    right = logits(merged)
    numpy.testing.assert_allclose(logits(read(found.path)), right, atol=1e-3)
    assert abs(right - logits(read(tiny_text.path))).max() > 1


def test_one_for_each_content(tiny_text: ModelSource, tmp_path: Path) -> None:
    source = with_adapter(tiny_text, write(tmp_path / "a", matrices()))
    found, in_use = settled(source)
    again, in_use_again = settled(source)
    assert again == found
    shutil.rmtree(tmp_path / "a")
    other, in_use_too = settled(with_adapter(tiny_text, write(tmp_path / "a", matrices(seed=1))))
    assert other.path != found.path
    assert {entry.path for entry in entries() if entry.in_use} == {found.path, other.path}
    for use in (in_use, in_use_again, in_use_too):
        assert use is not None
        use.release()


@pytest.mark.parametrize("architecture", ["qwen3", "llama"])
def test_the_layers_of_a_gguf_file(tmp_path: Path, architecture: str) -> None:
    """Its conversion doesn't name them: each is compared with the weights of the same name in the file."""
    inner = HEADS * HEAD
    modules = {f"self_attn.{name}_proj": (WIDTH, inner) for name in "qkv"} | {"self_attn.o_proj": (inner, WIDTH)}
    modules |= {f"mlp.{name}_proj": (WIDTH, FEED) for name in ("gate", "up")} | {"mlp.down_proj": (FEED, WIDTH)}
    content = matrices(modules=modules)
    names = {"q_proj": "attn_q", "k_proj": "attn_k", "v_proj": "attn_v", "o_proj": "attn_output"}
    names |= {f"{name}_proj": f"ffn_{name}" for name in ("gate", "up", "down")}
    changes = {}
    for module, (a, b) in content.items():
        *_, layer, _, name = module.split(".")
        change = SCALE * (b @ a)
        if architecture == "llama" and name in ("q_proj", "k_proj"):  # whose rows GGUF files have in another order
            change = change.reshape(HEADS, 2, HEAD // 2, WIDTH).swapaxes(1, 2).reshape(inner, WIDTH)
        changes[f"blk.{layer}.{names[name]}.weight"] = change
    base = resolve(str(write_gguf(tmp_path / "base.gguf", architecture=architecture)))
    whole = write_gguf(tmp_path / "merged.gguf", changes=changes, architecture=architecture)
    merged, _ = settled(resolve(str(whole)))
    found, _ = settled(with_adapter(base, write(tmp_path / "a", content)))
    right = logits(read(merged.path))
    assert abs(logits(read(found.path)) - right).max() < 0.02 * abs(right).max()  # weights have 16 bits


@pytest.mark.parametrize(
    ("modules", "reason"),
    [
        (
            {"self_attn.query": (96, 96)},
            "is not an adapter of tiny_text, which has no layer model.layers.0.self_attn.qu",
        ),
        (
            {"self_attn.q_proj": (128, 96)},
            "its matrices are for 128 inputs and 96 outputs of model.layers.0.self_attn.q",
        ),
    ],
)
def test_an_adapter_of_another_model(
    tiny_text: ModelSource, tmp_path: Path, modules: dict[str, tuple[int, int]], reason: str
) -> None:
    folder = write(tmp_path / "a", matrices(modules=modules))
    with pytest.raises(ModelLoadError) as raised:
        settled(with_adapter(tiny_text, folder))
    assert str(raised.value).startswith(f"{folder / 'adapter_model.safetensors'}: ")
    assert reason in str(raised.value)
    assert entries() == []


def test_not_of_the_last_layer(tiny_text: ModelSource, tmp_path: Path) -> None:
    content = {"lm_head": next(iter(matrices(modules={"x": (96, 1000)}).values()))}
    with pytest.raises(ModelLoadError, match="an adapter of lm_head can't be applied"):
        settled(with_adapter(tiny_text, write(tmp_path / "a", content)))


def test_without_room_in_the_cache(
    tiny_text: ModelSource, tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model alone is loaded without the cache, a model with an adapter isn't."""
    source = with_adapter(tiny_text, write(tmp_path / "a", matrices()))
    with monkeypatch.context() as full:
        usage = SimpleNamespace(free=30_000_000)
        full.setattr("specvino.engine.models.conversions.shutil.disk_usage", lambda path: usage)
        with pytest.raises(ModelLoadError, match=r"can't be applied: that needs 3\d MB of free space in "):
            settled(source)
    assert not list((cache / "converted").glob("[!.]*/"))
    shutil.rmtree(cache)
    cache.touch()
    with pytest.raises(ModelLoadError, match=r"\.safetensors: can't be applied: Not a directory"):
        settled(source)
    gguf = resolve(str(write_gguf(tmp_path / "base.gguf")))
    with pytest.raises(ModelLoadError, match="can't be applied: the cache has no room for the model"):
        settled(with_adapter(gguf, tmp_path / "a"))
