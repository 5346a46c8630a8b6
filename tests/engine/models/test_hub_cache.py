import os
from pathlib import Path

import pytest

from specvino.engine.errors import ModelLoadError
from specvino.engine.models.folder import FILES
from specvino.engine.models.hub_cache import find_snapshot


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    return tmp_path


def add_snapshot(cache: Path, commit: str, age: int = 0, files: tuple[str, ...] = FILES) -> Path:
    folder = cache / "models--OpenVINO--tiny" / "snapshots" / commit
    folder.mkdir(parents=True)
    for name in files:
        (folder / name).touch()
    os.utime(folder, (1000 - age, 1000 - age))
    return folder


def test_the_newest_snapshot(cache: Path) -> None:
    add_snapshot(cache, "b", age=5)
    newest = add_snapshot(cache, "a", age=1)
    add_snapshot(cache, "c", age=9)
    assert find_snapshot("OpenVINO/tiny") == newest


def test_the_commit_of_main_comes_first(cache: Path) -> None:
    add_snapshot(cache, "a")
    main = add_snapshot(cache, "b", age=5)
    (cache / "models--OpenVINO--tiny" / "refs").mkdir()
    (cache / "models--OpenVINO--tiny" / "refs" / "main").write_text("b")
    assert find_snapshot("OpenVINO/tiny") == main


def test_a_snapshot_in_another_format_is_passed_over(cache: Path) -> None:
    usable = add_snapshot(cache, "a", age=5)
    add_snapshot(cache, "b", files=("model.safetensors",))
    assert find_snapshot("OpenVINO/tiny") == usable


def test_a_model_in_another_format_only(cache: Path) -> None:
    add_snapshot(cache, "a", files=("model.safetensors",))
    with pytest.raises(ModelLoadError, match=r"^OpenVINO/tiny: .*openvino_model\.xml is missing.*optimum-cli export"):
        find_snapshot("OpenVINO/tiny")


@pytest.mark.parametrize("model_id", ["OpenVINO/tiny", "tiny", "a/b/c", "../tiny", "/etc", "", "a b"])
def test_not_in_the_cache(cache: Path, model_id: str) -> None:
    assert find_snapshot(model_id) is None


@pytest.mark.parametrize(
    ("variable", "below"),
    [
        ("HF_HUB_CACHE", "."),
        ("HF_HOME", "hub"),
        ("XDG_CACHE_HOME", "huggingface/hub"),
        ("HOME", ".cache/huggingface/hub"),
    ],
)
def test_where_the_cache_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str, below: str) -> None:
    for name in ("HF_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(variable, str(tmp_path))
    snapshot = add_snapshot(tmp_path / below, "a")
    assert find_snapshot("OpenVINO/tiny") == snapshot
