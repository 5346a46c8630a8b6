"""The cache of conversions. Most tests convert by a stand-in; the last ones by OpenVINO."""

import errno
import fcntl
import os
import shutil
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest
from support.processes import gone
from support.qwen3_gguf import write
from support.serving import PATIENCE, wait_until

from specvino.engine.errors import ModelLoadError
from specvino.engine.models import cache as cached
from specvino.engine.models import conversions, resolve
from specvino.engine.models.cache import CHECKSUMS, ORIGIN, InUse, entries
from specvino.engine.models.conversions import converted, settled
from specvino.engine.models.folder import FILES
from specvino.engine.processes.memory import Memory
from specvino.engine.progress import Report, say_nothing

MODULE = "specvino.engine.models.conversions"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SPECVINO_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def gguf(cache: Path, tmp_path: Path) -> Path:
    """A file of some bytes, for which the stand-in needs no more."""
    file = tmp_path / "a model.gguf"
    file.write_bytes(b"GGUF" * 1000)
    return file


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """What the stand-in converted: its files are that, and their names."""
    runs: list[bytes] = []

    def convert(link: Path, report: Report) -> None:
        report("converting the model", 0, 0)
        runs.append(link.read_bytes())
        link.unlink()
        for name in FILES:
            (link.parent / name).write_bytes(name.encode() + runs[-1])

    monkeypatch.setattr(f"{MODULE}.convert", convert)
    return runs


def folder_of(gguf: Path, report: Report = say_nothing) -> Path:
    """The folder, no longer in use."""
    there = converted(gguf, report)
    assert there is not None
    there.release()
    return there.path


def folders(cache: Path) -> list[Path]:
    return [path for path in (cache / "converted").iterdir() if path.is_dir()]


def test_a_file_is_converted_once(gguf: Path, cache: Path, runs: list[bytes]) -> None:
    reports: list[tuple[str, int, int]] = []
    folder = folder_of(gguf, lambda *report: reports.append(report))
    assert folder.name.startswith("a_model-")
    assert {file.name for file in folder.iterdir()} == {*FILES, CHECKSUMS, ORIGIN}
    assert reports == [("reading the GGUF file", 4000, 4000), ("converting the model", 0, 0)]
    reports.clear()
    assert folder_of(gguf, lambda *report: reports.append(report)) == folder
    assert (len(runs), reports, folders(cache)) == (1, [], [folder])
    assert gguf.read_bytes() == runs[0]


def test_the_content_is_what_counts(gguf: Path, tmp_path: Path, runs: list[bytes]) -> None:
    folder = folder_of(gguf)
    moved = gguf.rename(tmp_path / "moved.gguf")
    assert folder_of(moved) == folder
    copy = tmp_path / "copy.gguf"
    copy.write_bytes(moved.read_bytes())
    assert folder_of(copy) == folder
    times = copy.stat()
    copy.write_bytes(b"FUGG" * 1000)
    os.utime(copy, ns=(times.st_atime_ns, times.st_mtime_ns))  # as some programs leave it
    assert folder_of(copy) != folder
    assert len(runs) == 2


def test_another_version_of_openvino_genai_converts_anew(
    gguf: Path, monkeypatch: pytest.MonkeyPatch, runs: list[bytes]
) -> None:
    folder = folder_of(gguf)
    monkeypatch.setattr(f"{MODULE}.version", lambda package: "9999.1")
    assert folder_of(gguf).name == folder.name.replace(version("openvino-genai"), "9999.1")
    assert len(runs) == 2


@pytest.mark.parametrize("name", [FILES[1], CHECKSUMS, ORIGIN])
@pytest.mark.parametrize("damage", ["lost", "cut", "changed"])
def test_a_damaged_folder_is_converted_anew(gguf: Path, cache: Path, runs: list[bytes], name: str, damage: str) -> None:
    folder = folder_of(gguf)
    content = (folder / name).read_bytes()
    if damage == "lost":
        (folder / name).unlink()
    else:
        (folder / name).write_bytes(content[:5] if damage == "cut" else b"?" + content[1:])
    assert folder_of(gguf) == folder
    assert (folder / name).read_bytes() == content
    assert (len(runs), folders(cache)) == (2, [folder])


def test_a_conversion_that_fails_leaves_nothing(
    gguf: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, runs: list[bytes]
) -> None:
    def fail(link: Path, report: Report) -> None:
        (link.parent / FILES[0]).touch()
        raise ModelLoadError("its weights are of no known kind")

    with monkeypatch.context() as patch:
        patch.setattr(f"{MODULE}.convert", fail)
        with pytest.raises(ModelLoadError, match="of no known kind"):
            converted(gguf)
    assert folders(cache) == []
    assert gguf.exists()
    folder_of(gguf)
    assert len(runs) == 1


def test_a_file_that_changes_meanwhile_is_refused(
    gguf: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, runs: list[bytes]
) -> None:
    convert = vars(conversions)["convert"]

    def changing(link: Path, report: Report) -> None:
        convert(link, report)
        gguf.write_bytes(b"other")

    monkeypatch.setattr(f"{MODULE}.convert", changing)
    with pytest.raises(ModelLoadError, match="changed while it was converted"):
        converted(gguf)
    assert folders(cache) == []


def test_what_a_killed_conversion_left_is_removed(gguf: Path, cache: Path, runs: list[bytes]) -> None:
    leftover = cache / "converted" / f"{cached.UNFINISHED}x" / "model"
    leftover.mkdir(parents=True)
    (leftover / FILES[0]).touch()
    assert entries() == []
    assert folders(cache) != [folder_of(gguf)]
    assert len(folders(cache)) == 1


def test_two_starts_at_the_same_time_convert_once(
    gguf: Path, monkeypatch: pytest.MonkeyPatch, runs: list[bytes]
) -> None:
    convert = vars(conversions)["convert"]
    begun, waiting = threading.Event(), threading.Event()

    def slow(link: Path, report: Report) -> None:
        begun.set()
        assert waiting.wait(PATIENCE)
        convert(link, report)

    def report(stage: str, done: int, total: int) -> None:
        if stage == "waiting for another conversion":
            waiting.set()

    monkeypatch.setattr(f"{MODULE}.convert", slow)
    first = threading.Thread(target=folder_of, args=(gguf,))
    first.start()
    assert begun.wait(PATIENCE)
    folder_of(gguf, report)
    first.join(PATIENCE)
    assert waiting.is_set()
    assert len(runs) == 1


@pytest.mark.parametrize("stage", ["reading the GGUF file", "converting the model"])
def test_a_report_ends_the_work(gguf: Path, cache: Path, runs: list[bytes], stage: str) -> None:
    def report(reported: str, done: int, total: int) -> None:
        if reported == stage:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        converted(gguf, report)
    assert runs == []
    assert not (cache / "converted").exists() or folders(cache) == []


def test_without_room_the_file_itself_is_loaded(
    gguf: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, runs: list[bytes]
) -> None:
    monkeypatch.setattr(f"{MODULE}.shutil.disk_usage", lambda path: SimpleNamespace(free=30_000_000))
    assert converted(gguf) is None
    (line,) = caplog.messages
    assert line == (
        f"{gguf} isn't kept in OpenVINO's format, so that every start converts it: that needs 32 MB of free space in "
        f"{cache}/converted"
    )
    assert runs == []


@pytest.mark.parametrize("free", [0, 131_000_000])  # OpenVINO removes some of its files when it fails
def test_a_disk_that_becomes_full(
    gguf: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, free: int
) -> None:
    os.truncate(gguf, 100_000_000)
    frees = iter([10**12, free])

    def fail(link: Path, report: Report) -> None:
        (link.parent / FILES[1]).write_bytes(bytes(40_000_000))
        raise ModelLoadError("saving it as an OpenVINO folder failed: RuntimeError: basic_ios::clear: iostream error")

    monkeypatch.setattr(f"{MODULE}.convert", fail)
    monkeypatch.setattr(f"{MODULE}.shutil.disk_usage", lambda path: SimpleNamespace(free=next(frees)))
    assert converted(gguf) is None
    assert caplog.text.endswith(f"the disk of {cache}/converted became full\n")
    assert folders(cache) == []


def test_a_conversion_that_fails_on_a_disk_with_room(
    gguf: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, runs: list[bytes]
) -> None:
    """What is written already isn't what others took."""
    frees = iter([172_000_000, 132_000_000])

    def fail(link: Path, report: Report) -> None:
        (link.parent / FILES[1]).write_bytes(bytes(40_000_000))
        raise ModelLoadError("its weights are of no known kind")

    os.truncate(gguf, 100_000_000)
    monkeypatch.setattr(f"{MODULE}.convert", fail)
    monkeypatch.setattr(f"{MODULE}.shutil.disk_usage", lambda path: SimpleNamespace(free=next(frees)))
    with pytest.raises(ModelLoadError, match="of no known kind"):
        converted(gguf)


def test_a_cache_that_cannot_be_written(gguf: Path, cache: Path, caplog: pytest.LogCaptureFixture) -> None:
    cache.touch()
    assert converted(gguf) is None
    assert "so that every start converts it: " in caplog.text


def test_no_space_left(
    gguf: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, runs: list[bytes]
) -> None:
    def full(path: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr(f"{MODULE}._flush", full)
    assert converted(gguf) is None
    assert "No space left on device" in caplog.text
    assert folders(cache) == []


class TestBound:
    @pytest.fixture
    def three(self, cache: Path, tmp_path: Path, runs: list[bytes]) -> list[Path]:
        """Conversions, the least recently used first."""
        made = []
        for index in range(3):
            file = tmp_path / f"{index}.gguf"
            file.write_bytes(bytes([index]) * 1000)
            made.append(folder_of(file))
            os.utime(made[-1], (index, index))
        return made

    def test_the_least_recently_used_one_makes_room(
        self, gguf: Path, cache: Path, three: list[Path], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        size = sum(entry.bytes for entry in entries()) // 3
        needed = int(gguf.stat().st_size * vars(conversions)["_TIMES"]) + vars(conversions)["_TOKENIZER"]
        monkeypatch.setattr(f"{MODULE}.LIMIT", needed + 2 * size + 100)
        new = folder_of(gguf)
        assert set(folders(cache)) == {*three[1:], new}

    def test_one_in_use_stays(
        self, gguf: Path, cache: Path, three: list[Path], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(f"{MODULE}.LIMIT", 0)
        kept = InUse(three[0])
        os.utime(three[0], (0, 0))
        new = folder_of(gguf)
        assert set(folders(cache)) == {three[0], new}
        kept.release()

    def test_a_full_disk_makes_room_too(
        self, gguf: Path, cache: Path, three: list[Path], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def usage(path: Path) -> SimpleNamespace:
            return SimpleNamespace(free=10**12 if not three[1].exists() else 0)

        monkeypatch.setattr(f"{MODULE}.shutil.disk_usage", usage)
        new = folder_of(gguf)
        assert set(folders(cache)) == {three[2], new}


@pytest.mark.parametrize("replaced", [False, True])
def test_one_that_is_removed_at_that_moment_is_not_used(
    gguf: Path, runs: list[bytes], monkeypatch: pytest.MonkeyPatch, *, replaced: bool
) -> None:
    folder = folder_of(gguf)
    (entry,) = entries()
    flock = fcntl.flock

    def late(file: int, operation: int) -> None:
        if operation == fcntl.LOCK_SH:  # a use, whose folder is open already
            assert entry.remove()
            if replaced:
                folder.mkdir()
        flock(file, operation)

    with monkeypatch.context() as patch:
        patch.setattr(fcntl, "flock", late)
        with pytest.raises(FileNotFoundError):
            InUse(folder)
    assert folder_of(gguf) == folder
    assert len(runs) == 2


def test_openvino_loads_what_it_converted(cache: Path, tmp_path: Path) -> None:
    import openvino_genai

    file = write(tmp_path / "m.gguf")
    source = resolve(str(file))
    found, in_use = settled(source)
    assert in_use is not None
    assert replace(found, path=source.path) == source
    assert found.hidden_size
    assert resolve(str(found.path)) == found
    texts = [
        openvino_genai.LLMPipeline(path, "CPU").generate("hello", max_new_tokens=16) for path in (file, found.path)
    ]
    assert texts[0] == texts[1]
    in_use.release()


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="only root can mount a small disk")
def test_openvino_fills_the_disk(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Others leave 40 MB for a conversion of 54 MB."""
    monkeypatch.setattr("support.qwen3_gguf.FEED", 70_000)
    file = write(tmp_path / "m.gguf")
    convert = vars(conversions)["convert"]

    def late(link: Path, report: Report) -> None:
        room = shutil.disk_usage(cache).free - 40_000_000
        with (cache / "others").open("wb") as others:
            os.posix_fallocate(others.fileno(), 0, room)
        convert(link, report)

    monkeypatch.setattr(f"{MODULE}.convert", late)
    cache.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=128m", "none", cache], check=True)
    try:
        assert converted(file) is None
        assert caplog.text.endswith(f"the disk of {cache}/converted became full\n")
        assert folders(cache) == []
        assert shutil.disk_usage(cache).free > 39_000_000
    finally:
        subprocess.run(["umount", cache], check=True)


def test_a_file_that_openvino_can_not_convert(gguf: Path, cache: Path) -> None:
    with pytest.raises(ModelLoadError, match=r"^saving it as an OpenVINO folder failed: \S") as raised:
        converted(gguf)
    assert "\n" not in str(raised.value)
    assert folders(cache) == []
    assert gguf.exists()


def test_a_killed_start_leaves_no_process_and_nothing_to_be_taken_for_whole(cache: Path, tmp_path: Path) -> None:
    file = write(tmp_path / "m.gguf")
    code = f"from pathlib import Path; from {MODULE} import converted; converted(Path({str(file)!r}))"
    starter = subprocess.Popen([sys.executable, "-c", code])
    with starter:
        wait_until(lambda: psutil.Process(starter.pid).children())
        children = psutil.Process(starter.pid).children(recursive=True)
        starter.send_signal(signal.SIGKILL)
        starter.wait(PATIENCE)
    assert gone(*children)
    assert entries() == []
    folder_of(file)
    assert [folder.name for folder in folders(cache)] == [entry.name for entry in entries()]


def test_a_file_that_needs_more_memory_than_is_free(
    gguf: Path, cache: Path, runs: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"{MODULE}.memory", lambda: Memory(10**9, 9000))
    with pytest.raises(ModelLoadError, match=r"converting it takes 0\.0 GB of memory, and 0\.0 GB are free"):
        converted(gguf)
    assert not runs
    assert not folders(cache)
