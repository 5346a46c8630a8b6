import json
from pathlib import Path

import pytest

from specvino.engine.errors import ModelLoadError
from specvino.engine.models.folder import ASSUMED_CONTEXT, FILES, GGUF_TOKENIZER, VISION_FILES, open_folder


def write_folder(
    path: Path, config: object = None, generation_config: object = None, files: tuple[str, ...] = FILES
) -> Path:
    for name in files:
        (path / name).write_text('<net><port names="logits"/></net>' if name.endswith(".xml") else "")
    if config is not None:
        (path / "config.json").write_text(json.dumps(config))
    if generation_config is not None:
        (path / "generation_config.json").write_text(json.dumps(generation_config))
    return path


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    write_folder(tmp_path)
    (tmp_path / name).unlink()
    with pytest.raises(ModelLoadError, match=rf"^\S+: not an OpenVINO model folder, {name} is missing$"):
        open_folder(tmp_path)


@pytest.mark.parametrize("name", ["openvino_model.xml", "openvino_tokenizer.xml"])
def test_a_truncated_graph_is_refused(tmp_path: Path, name: str) -> None:
    (write_folder(tmp_path) / name).write_text('<net><port names="logits"/></ne')
    with pytest.raises(ModelLoadError, match=rf"{name}: is truncated, or not a model of OpenVINO$"):
        open_folder(tmp_path)


@pytest.mark.parametrize("size", [0, 29, 31, 1_000_000])
@pytest.mark.parametrize("name", ["openvino_model", "openvino_detokenizer"])
def test_weights_of_another_size_than_the_graph_describes_are_refused(tmp_path: Path, name: str, size: int) -> None:
    write_folder(tmp_path, {"n_ctx": 7})
    first, second = '<data element_type="f32" shape="5" offset="0" size="20" />', '<data offset="20" size="10"/>'
    graph = f'<net><port names="logits"/>{first}{second}</net>'
    (tmp_path / f"{name}.xml").write_text(graph)
    (tmp_path / f"{name}.bin").write_bytes(bytes(30))
    open_folder(tmp_path)
    (tmp_path / f"{name}.bin").write_bytes(bytes(size))
    with pytest.raises(ModelLoadError) as raised:
        open_folder(tmp_path)
    assert str(raised.value) == (
        f"{tmp_path}/{name}.bin: has {size:,} bytes, but {name}.xml describes 30: it is truncated, or belongs to "
        "another model; copy both files again"
    )


def test_a_model_that_generates_no_text_is_refused(tmp_path: Path) -> None:
    write_folder(tmp_path, {"architectures": ["BertModel"]})
    (tmp_path / "openvino_model.xml").write_text('<net><port names="last_hidden_state"/></net>')
    with pytest.raises(ModelLoadError, match=r"its model returns no logits, .*generate text \(BertModel\)$"):
        open_folder(tmp_path)


NEITHER = "is neither in OpenVINO's format (openvino_model.xml is missing) nor a GGUF file"
OWN_CODE = {"auto_map": {"AutoModelForCausalLM": "m.M"}, "architectures": ["ChatModel"]}


@pytest.mark.parametrize(
    ("files", "config", "reason"),
    [
        (
            ["model.safetensors"],
            {"architectures": ["Qwen3ForCausalLM"]},
            NEITHER
            + ", but a checkpoint for PyTorch (model.safetensors): convert it with 'specvino pull --convert {path}', "
            "or take a GGUF file of it",
        ),
        (
            ["pytorch_model.bin"],
            {"architectures": ["Qwen3ForCausalLM"]},
            NEITHER
            + ", but a checkpoint for PyTorch (pytorch_model.bin): convert it with 'optimum-cli export openvino "
            "--model {path} FOLDER' and give the folder, or take a GGUF file of it",
        ),
        (
            ["pytorch_model.bin"],
            OWN_CODE,
            NEITHER
            + ", but a checkpoint for PyTorch (pytorch_model.bin): convert it with 'optimum-cli export openvino "
            "--model {path} --trust-remote-code FOLDER' (that runs the code that config.json names in auto_map, so "
            "read it first) and give the folder, or take a GGUF file of it",
        ),
        (
            ["model.safetensors"],
            {"architectures": ["BertModel"]},
            NEITHER + ", and its model doesn't generate text (BertModel)",
        ),
        (
            ["model.safetensors"],
            {"architectures": ["T5ForConditionalGeneration"], "is_encoder_decoder": True},
            NEITHER + ", but a model with an encoder (T5ForConditionalGeneration); only decoders can be served",
        ),
        (
            ["openvino_encoder_model.xml"],
            {},
            NEITHER + ", but a model with an encoder; only decoders can be served",
        ),
        (
            ["adapter_model.safetensors", "adapter_config.json"],
            {},
            NEITHER + ", but an adapter (LoRA): serve its base model, with --lora-modules NAME=FOLDER",
        ),
        (
            ["model_index.json"],
            {},
            NEITHER + ", but a pipeline of diffusers; only models that generate text can be served",
        ),
        (
            ["model.safetensors"],
            {"architectures": ["SmolVLMForConditionalGeneration"], "model_type": "smolvlm"},
            NEITHER
            + ", and OpenVINO GenAI 2026.4.1 has no vision-language models of this type (smolvlm); take a model "
            "of one of the types in docs/architectures.md that start",
        ),
        (
            ["model.safetensors"],
            {"architectures": ["DeepseekV3ForCausalLM"], "model_type": "deepseek_v3"},
            NEITHER + ", and optimum-intel 2.2.0 can't export this type with the code of transformers (deepseek_v3); "
            "take a model of one of the types in docs/architectures.md that start",
        ),
        (
            ["model.safetensors"],
            OWN_CODE | {"model_type": "deepseek_v3"},
            NEITHER
            + ", but a checkpoint for PyTorch (model.safetensors): convert it with 'optimum-cli export openvino "
            "--model {path} --trust-remote-code FOLDER' (that runs the code that config.json names in auto_map, so "
            "read it first) and give the folder, or take a GGUF file of it",
        ),
        (["b.gguf", "a.GGUF"], {}, "is a folder of GGUF files: give one of them, such as {path}/a.GGUF"),
        (["README.md"], {}, "not an OpenVINO model folder, openvino_model.xml is missing"),
    ],
)
def test_a_folder_of_another_kind_is_told_what_would_work(
    tmp_path: Path, files: list[str], config: object, reason: str
) -> None:
    for file in files:
        (tmp_path / file).touch()
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelLoadError) as raised:
        open_folder(tmp_path)
    assert str(raised.value) == f"{tmp_path}: {reason.replace('{path}', str(tmp_path))}"


def test_a_folder_of_a_type_that_genai_does_not_have(tmp_path: Path) -> None:
    write_folder(tmp_path, {"model_type": "smolvlm", "n_ctx": 7}, files=VISION_FILES)
    with pytest.raises(
        ModelLoadError, match=r"GenAI 2026\.4\.1 has no vision-language models of this type \(smolvlm\)"
    ):
        open_folder(tmp_path)


def test_a_folder_that_was_exported_all_the_same(tmp_path: Path) -> None:
    open_folder(write_folder(tmp_path, {"model_type": "deepseek_v3", "n_ctx": 7}))


DRAFTER = (
    "drafter of another model, which OpenVINO GenAI 2026.4.1 can't run beside other requests without errors; "
    "--draft-model takes a smaller model with the same vocabulary, and --prompt-lookup needs none"
)


@pytest.mark.parametrize(("mark", "kind"), [("eagle3_mode", "an Eagle-3"), ("dflash_mode", "a DFlash")])
def test_a_drafter_that_needs_the_states_of_another_model(tmp_path: Path, mark: str, kind: str) -> None:
    """optimum-intel exports it without a tokenizer."""
    write_folder(tmp_path, {}, files=FILES[:2])
    rt_info = f'<rt_info>\n\t\t<{mark} value="True" />\n\t</rt_info>'
    (tmp_path / FILES[0]).write_text(f'<net><port names="logits"/>{rt_info}</net>')
    with pytest.raises(ModelLoadError) as raised:
        open_folder(tmp_path)
    assert str(raised.value) == f"{tmp_path}: {kind} {DRAFTER}"


@pytest.mark.parametrize(
    ("architecture", "kind"),
    [
        ("LlamaForCausalLMEagle3", "an Eagle-3"),
        ("Eagle3LlamaForCausalLM", "an Eagle-3"),
        ("DFlashDraftModel", "a DFlash"),
    ],
)
def test_a_checkpoint_of_such_a_drafter(tmp_path: Path, architecture: str, kind: str) -> None:
    (tmp_path / "model.safetensors").touch()
    (tmp_path / "config.json").write_text(json.dumps({"architectures": [architecture]}))
    with pytest.raises(ModelLoadError) as raised:
        open_folder(tmp_path)
    assert str(raised.value) == f"{tmp_path}: {kind} {DRAFTER}"


def test_a_multimodal_model(tmp_path: Path) -> None:
    config = {"text_config": {"max_position_embeddings": 9}}
    source = open_folder(write_folder(tmp_path, config, files=VISION_FILES))
    assert source.vision
    assert source.context_length == 9


def test_a_model_that_reads_text_only(tmp_path: Path) -> None:
    assert not open_folder(write_folder(tmp_path, {"n_ctx": 1})).vision


@pytest.mark.parametrize("name", VISION_FILES[1:])
def test_a_missing_file_of_a_multimodal_model_is_named(tmp_path: Path, name: str) -> None:
    write_folder(tmp_path, files=VISION_FILES)
    (tmp_path / name).unlink()
    with pytest.raises(ModelLoadError, match=rf"^\S+: not an OpenVINO model folder, {name} is missing$"):
        open_folder(tmp_path)


@pytest.mark.parametrize(
    ("config", "length"),
    [
        ({"max_position_embeddings": 2048}, 2048),
        ({"n_positions": 1024}, 1024),
        ({"seq_len": 5}, 5),
        ({"seq_length": 6}, 6),
        ({"n_ctx": 7}, 7),
        ({"n_ctx": 7, "max_position_embeddings": 8}, 8),
        ({"max_position_embeddings": -1, "n_ctx": 7}, 7),
        ({"max_position_embeddings": True, "n_ctx": 7}, 7),
        ({"max_position_embeddings": "2048", "n_ctx": 7}, 7),
        ({"text_config": {"max_position_embeddings": 9}}, 9),
        ({"n_ctx": 7, "text_config": {"max_position_embeddings": 9}}, 7),
    ],
)
def test_context_length(tmp_path: Path, config: object, length: int) -> None:
    assert open_folder(write_folder(tmp_path, config)).context_length == length


@pytest.mark.parametrize(
    ("config", "size"),
    [({"hidden_size": 576}, 576), ({"n_embd": 768}, 768), ({"text_config": {"hidden_size": 64}}, 64), ({}, None)],
)
def test_hidden_size(tmp_path: Path, config: dict[str, object], size: int | None) -> None:
    assert open_folder(write_folder(tmp_path, {"n_ctx": 7} | config)).hidden_size == size


@pytest.mark.parametrize("config", [None, {}, {"text_config": None}])
def test_an_unknown_context_length_is_assumed_with_a_warning(
    tmp_path: Path, config: object, caplog: pytest.LogCaptureFixture
) -> None:
    assert open_folder(write_folder(tmp_path, config)).context_length == ASSUMED_CONTEXT
    assert "max_position_embeddings" in caplog.text


def test_only_known_sampling_settings_are_defaults(tmp_path: Path) -> None:
    settings = {
        "temperature": 0.6,
        "top_p": 0.9,
        "top_k": 20,
        "repetition_penalty": 1.1,
        "frequency_penalty": -1,
        "presence_penalty": 1,
        "max_new_tokens": 100,
    }
    others = {"eos_token_id": 2, "do_sample": True, "max_tokens": 5}
    source = open_folder(write_folder(tmp_path, {"n_ctx": 1}, settings | others))
    settings["max_tokens"] = settings.pop("max_new_tokens")
    assert source.defaults == settings


def test_without_settings_there_are_no_defaults(tmp_path: Path) -> None:
    assert open_folder(write_folder(tmp_path, {"n_ctx": 1}, {"top_p": None})).defaults == {}


def test_top_k_0_keeps_all_tokens(tmp_path: Path) -> None:
    assert open_folder(write_folder(tmp_path, {"n_ctx": 1}, {"top_k": 0})).defaults == {"top_k": -1}


@pytest.mark.parametrize(
    ("key", "value", "accepted"),
    [
        ("temperature", -0.1, "a number from 0 to 2"),
        ("temperature", "hot", "a number from 0 to 2"),
        ("temperature", float("nan"), "a number from 0 to 2"),
        ("top_p", -0.1, "a number from 0 to 1"),
        ("top_p", 1.1, "a number from 0 to 1"),
        ("top_k", -2, "an integer of -1 or more"),
        ("top_k", 1.5, "an integer of -1 or more"),
        ("repetition_penalty", 0, "a number from 0.01 to 100"),
        ("repetition_penalty", True, "a number from 0.01 to 100"),
        ("frequency_penalty", 2.5, "a number from -2 to 2"),
        ("presence_penalty", [1], "a number from -2 to 2"),
        ("max_new_tokens", 0, "an integer of 1 or more"),
    ],
)
def test_a_bad_setting_is_refused_by_name(tmp_path: Path, key: str, value: object, accepted: str) -> None:
    write_folder(tmp_path, {"n_ctx": 1}, {key: value})
    with pytest.raises(ModelLoadError) as raised:
        open_folder(tmp_path)
    file = tmp_path / "generation_config.json"
    assert str(raised.value) == f"{file}: {key} must be {accepted}, not {json.dumps(value)}"


@pytest.mark.parametrize("name", ["config.json", "generation_config.json"])
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"{", "is not valid JSON"),
        (b"\xff", "is not valid JSON"),
        (b"[" * 100_000, "is not valid JSON"),
        (b"[]", "must hold a JSON object"),
    ],
)
def test_a_broken_file_is_named(tmp_path: Path, name: str, text: bytes, reason: str) -> None:
    (write_folder(tmp_path) / name).write_bytes(text)
    with pytest.raises(ModelLoadError, match=rf"/{name}: {reason}$"):
        open_folder(tmp_path)


def test_an_unreadable_file_is_named(tmp_path: Path) -> None:
    (write_folder(tmp_path) / "config.json").mkdir()
    with pytest.raises(ModelLoadError, match=r"/config\.json: can't be read: Is a directory$"):
        open_folder(tmp_path)


@pytest.mark.parametrize(("model_type", "on"), [("granitemoehybrid", False), ("granite", True), (None, True)])
def test_the_prefix_cache_by_type(tmp_path: Path, model_type: str | None, *, on: bool) -> None:
    assert open_folder(write_folder(tmp_path, {"n_ctx": 1, "model_type": model_type})).prefix_cache is on


def test_the_marker_of_a_gguf_tokenizer(tmp_path: Path) -> None:
    config: dict[str, object] = {"n_ctx": 1}
    assert not open_folder(write_folder(tmp_path, config)).gguf
    config[GGUF_TOKENIZER] = True
    assert open_folder(write_folder(tmp_path, config)).gguf
