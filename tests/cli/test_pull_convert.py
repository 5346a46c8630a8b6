"""`specvino pull --convert`, with a stand-in for optimum-cli that writes the tiny model."""

import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from support.hub import MAIN, Hub, serving
from support.processes import gone
from support.serving import wait_until
from typer.testing import CliRunner

from specvino.cli import main
from specvino.engine.models import ModelSource

ID = "org/tiny"
CONFIG: dict[str, Any] = {"architectures": ["Qwen3ForCausalLM"]}


class Converter:
    """Runs `specvino pull --convert` with a cache, a home and a PATH of its own."""

    def __init__(self, folder: Path, model: Path) -> None:
        self.programs, self.cache, self.checkpoint = folder / "bin", folder / "cache", folder / "tiny"
        self.calls = folder / "calls"
        self.programs.mkdir()
        self.calls.touch()
        self.does(f"""for last; do :; done; cp -r {shlex.quote(str(model))}/. "$last"; mkdir "$last/chat_templates" """)
        self.checkpoint.mkdir()
        for name, content in files(CONFIG).items():
            (self.checkpoint / name).write_bytes(content)
        self.env = os.environ | {"PATH": f"{self.programs}:/usr/bin:/bin", "SPECVINO_CACHE": str(self.cache)}

    def does(self, script: str) -> None:
        """Makes optimum-cli note its arguments, and run this."""
        program = self.programs / "optimum-cli"
        program.write_text(f'#!/bin/sh\necho "$*" >> {shlex.quote(str(self.calls))}\n{script}\n')
        program.chmod(0o755)

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "specvino.cli", "pull", "--convert", *arguments]

    def run(self, *arguments: str, **env: str) -> tuple[int, str, str]:
        """Returns the exit code, and what is printed."""
        run = subprocess.run(self.command(*arguments), capture_output=True, text=True, env=self.env | env, timeout=300)
        return run.returncode, run.stdout, run.stderr


def files(config: object) -> dict[str, bytes]:
    return {"config.json": json.dumps(config).encode(), "model.safetensors": bytes(100), "tokenizer.json": b"{}"}


@pytest.fixture
def converter(tmp_path: Path, tiny_text: ModelSource) -> Converter:
    return Converter(tmp_path, tiny_text.path)


@pytest.fixture
def hub() -> Iterator[Hub]:
    others = {"README.md": b"hello", "onnx/model.onnx": bytes(100), "pytorch_model.bin": bytes(100), "m.gguf": b"GGUF"}
    others["consolidated.safetensors"] = bytes(100)
    with serving(Hub(ID, {MAIN: files(CONFIG) | others}, {"main": MAIN})) as hub:
        yield hub


def test_a_folder_is_converted_once(converter: Converter, tiny_text: ModelSource) -> None:
    code, out, err = converter.run(str(converter.checkpoint), "--weights", "int4")
    (folder,) = (converter.cache / "converted").glob("tiny-int4-*")
    assert (code, out) == (0, f"{converter.checkpoint} is ready: {folder}\n")
    assert err.splitlines()[-1] == "specvino: converting the model to int4"
    assert (folder / "openvino_model.bin").read_bytes() == (tiny_text.path / "openvino_model.bin").read_bytes()
    given = "export openvino --model {} --task text-generation-with-past --library transformers --weight-format int4 "
    assert converter.calls.read_text().startswith(given.format(converter.checkpoint))
    assert converter.run(str(converter.checkpoint), "--weights", "int4") == (0, out, "")
    assert len(converter.calls.read_text().splitlines()) == 1
    listed = subprocess.run(
        [sys.executable, "-m", "specvino.cli", "models", "--format", "json"],
        env=converter.env,
        capture_output=True,
        check=True,
    )
    assert [row["source"] for row in json.loads(listed.stdout)] == [f"{converter.checkpoint} (int4)"]


def test_other_weights_are_another_conversion(converter: Converter) -> None:
    (converter.checkpoint / "config.json").write_text(json.dumps(CONFIG | {"vision_config": {}}))
    for weights in ([], ["--weights", "fp16"]):
        assert converter.run(str(converter.checkpoint), *weights)[0] == 0
    first, second = converter.calls.read_text().splitlines()
    assert "--task image-text-to-text --library transformers --weight-format int8 " in first
    assert "--weight-format fp16 " in second


def test_a_model_of_the_hub(converter: Converter, hub: Hub, tmp_path: Path) -> None:
    code, out, _ = converter.run(ID, **hub.env(tmp_path))
    (folder,) = (converter.cache / "converted").glob("tiny-int8-*")
    assert (code, out) == (0, f"{ID} is ready: {folder}\n")
    assert sorted(set(hub.downloads())) == sorted(files(CONFIG))


def test_code_that_comes_with_a_checkpoint_is_not_run(converter: Converter) -> None:
    (converter.checkpoint / "config.json").write_text(
        json.dumps(CONFIG | {"auto_map": {"AutoModelForCausalLM": "m.M"}})
    )
    assert converter.run(str(converter.checkpoint))[0] == 0
    assert "trust" not in converter.calls.read_text()


def test_a_chat_template_is_a_part_of_it(converter: Converter) -> None:
    assert converter.run(str(converter.checkpoint))[0] == 0
    (converter.checkpoint / "chat_templates").mkdir()
    (converter.checkpoint / "chat_templates" / "tool_use.jinja").write_text("{{ messages }}")
    assert converter.run(str(converter.checkpoint))[0] == 0
    assert len(converter.calls.read_text().splitlines()) == 2


def test_a_model_of_the_hub_that_can_not_be_converted(converter: Converter, hub: Hub, tmp_path: Path) -> None:
    hub.commits[MAIN] = files({"is_encoder_decoder": True, "model_type": "t5"})
    code, out, err = converter.run(ID, **hub.env(tmp_path))
    assert (code, out) == (2, "")
    reason = "is no checkpoint of a model that can be served, but a model with an encoder"
    assert err.startswith(f"specvino: {ID}: {reason}")
    assert hub.downloads() == ["config.json"]


def without_weights(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")


def only_gguf(folder: Path) -> None:
    without_weights(folder)
    (folder / "m.gguf").touch()


def of_an_encoder(folder: Path) -> None:
    (folder / "config.json").write_text(json.dumps(CONFIG | {"is_encoder_decoder": True}))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (without_weights, "is no checkpoint of transformers: config.json or model.safetensors is missing"),
        (only_gguf, "has files that can be served as they are: leave out --convert"),
        (of_an_encoder, "is no checkpoint of a model that can be served, but a model with an encoder"),
    ],
)
def test_what_is_not_converted(converter: Converter, change: Callable[[Path], None], message: str) -> None:
    change(converter.checkpoint)
    code, out, err = converter.run(str(converter.checkpoint))
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"specvino: {converter.checkpoint}: ")
    assert message in err
    assert converter.calls.read_text() == ""


def test_without_optimum(converter: Converter) -> None:
    (converter.programs / "optimum-cli").unlink()
    code, _, err = converter.run(str(converter.checkpoint))
    assert code == 2
    assert err.splitlines()[-1].startswith(
        "specvino: converting a checkpoint requires optimum-intel: install it by pip"
    )


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("echo loading >&2; echo 'ValueError: no such layer' >&2; exit 1", "ValueError: no such layer"),
        ("kill -9 $$", "it was ended by signal 9, as happens if the machine runs out of memory"),
        (
            'for last; do :; done; touch "$last/config.json"',
            "optimum-cli wrote no openvino_model.xml",
        ),
    ],
)
def test_a_conversion_that_fails_leaves_nothing(converter: Converter, script: str, reason: str) -> None:
    converter.does(script)
    code, out, err = converter.run(str(converter.checkpoint))
    assert (code, out) == (1, "")
    last = err.splitlines()[-1]
    assert last.startswith(f"specvino: {converter.checkpoint}: can't be converted: ")
    assert last.endswith(reason)
    assert [path.name for path in (converter.cache / "converted").iterdir() if not path.name.startswith(".")] == [
        "digests.json"
    ]


def test_a_killed_pull_ends_optimum_cli(converter: Converter) -> None:
    converter.does("exec sleep 1000")
    with subprocess.Popen(
        converter.command(str(converter.checkpoint)), stderr=subprocess.DEVNULL, env=converter.env
    ) as puller:
        wait_until(lambda: converter.calls.read_text() != "")
        children = psutil.Process(puller.pid).children(recursive=True)
        puller.send_signal(signal.SIGKILL)
        puller.wait(300)
    assert children
    assert gone(*children)


def test_a_checkpoint_on_disk_without_convert(converter: Converter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(converter.checkpoint.parent)
    for name in ("tiny", str(converter.checkpoint)):
        done = CliRunner().invoke(main, ["pull", name])
        assert (done.exit_code, done.output.count("\n")) == (2, 1)
        assert f"convert it with 'specvino pull --convert {name}'" in done.output
