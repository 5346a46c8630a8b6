"""What is wrong with the options of a device is told before a model is looked for."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from specvino.cli import main
from specvino.engine.models import ModelSource
from specvino.engine.openvino.engine import OpenVINOEngine
from specvino.engine.processes.memory import Memory
from specvino.server.assembly import ServeOptions
from specvino.server.assembly.models import make_engines


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--device", "XE"], "'XE' isn't an OpenVINO device of this machine; available: "),
        (["--device", "CUP"], "'CUP' isn't an OpenVINO device of this machine; did you mean CPU? available: "),
        (
            ["--tool-parser", "hermess"],
            "unknown format 'hermess'; did you mean hermes or hermes3? known formats are ",
        ),
        (["--reasoning-parser", "x"], "unknown format 'x'; known formats are qwen3, "),
        (["--reasoning-parser", "qwen"], "unknown format 'qwen'; did you mean qwen3? known formats are qwen3, "),
        (["--device", "NPU"], "NPU"),
        (["--device", "MULTI:CPU"], "continuous batching doesn't support MULTI"),
        (
            ["--device", "AUTO:CPU", "--plugin-config", '{"NOPE": 1}'],
            "NOPE isn't a property of OpenVINO's AUTO",
        ),
        (["--plugin-config", "f32"], "'f32' is not valid JSON"),
        (["--plugin-config", "[1]"], "'[1]' is not a JSON object"),
        (["--plugin-config", '{"A": {"B": 1}}'], "is not a JSON object of strings, numbers and booleans"),
    ],
)
def test_it_is_told_first(arguments: list[str], reason: str) -> None:
    command = ["serve", "/nowhere/model.gguf", "--response-store", "none", "--port", "0", *arguments]
    run = CliRunner(env={"COLUMNS": "300"}).invoke(main, command)
    assert run.exit_code == 2
    assert reason in run.output
    assert "/nowhere" not in run.output


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "template.jinja: can't be read: No such file or directory"),
        (b"\xff", "template.jinja: can't be read: it isn't UTF-8"),
        (b"{% if %}", "template.jinja: invalid chat template: line 1: Expected an expression"),
    ],
)
def test_a_file_that_is_no_chat_template(tmp_path: Path, content: bytes | None, reason: str) -> None:
    file = tmp_path / "template.jinja"
    if content is not None:
        file.write_bytes(content)
    command = ["serve", "/nowhere/model.gguf", "--response-store", "none", "--port", "0", "--chat-template", str(file)]
    run = CliRunner(env={"COLUMNS": "300"}).invoke(main, command)
    assert run.exit_code == 2
    assert reason in run.output
    assert "--chat-template" in run.output


def test_a_chat_template_in_place_of_the_model_s(tiny_text: ModelSource, tmp_path: Path) -> None:
    (tmp_path / "own.jinja").write_text("own")
    options = ServeOptions(model=str(tiny_text.path), chat_template=tmp_path / "own.jinja", cache_size=1)
    (engine,) = make_engines(options).values()
    assert isinstance(engine, OpenVINOEngine)
    assert engine._preprocess.process._settings.chat_template == "own"  # type: ignore[attr-defined]


@pytest.mark.parametrize(("choices", "tokens", "step"), [(64, 256, 256), (3, 128, 128), (256, 256, 320)])
def test_a_step_has_room_for_all_that_run_and_for_prompts(
    tiny_text: ModelSource, choices: int, tokens: int, step: int
) -> None:
    options = ServeOptions(model=str(tiny_text.path), max_num_seqs=choices, max_num_batched_tokens=tokens, cache_size=1)
    (engine,) = make_engines(options).values()
    assert isinstance(engine, OpenVINOEngine)
    assert engine._load.max_sequences == choices
    assert engine._load.options.max_num_batched_tokens == step


def test_a_device_with_memory_of_its_own(tiny_text: ModelSource, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cache is a quarter of that memory, whatever the machine has."""
    monkeypatch.setattr("specvino.engine.openvino.client.devices.device_memory", lambda options: 400 * 2**30)
    (engine,) = make_engines(ServeOptions(model=str(tiny_text.path))).values()
    assert isinstance(engine, OpenVINOEngine)
    assert engine._load.cache_size == 100
    assert engine._budget.read() == Memory(400 * 2**30, 400 * 2**30, owner="the device")
