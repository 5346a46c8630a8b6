"""`specvino pull ORG/NAME` against a stand-in for the Hugging Face hub."""

import hashlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from support.hub import MAIN, OLD, Hub, serving
from support.serving import serving as serving_a_model
from support.serving import wait_until
from typer.testing import CliRunner

from specvino.cli import main
from specvino.engine.models import ModelSource

ID = "org/tiny"


@pytest.fixture
def hub(tiny_text: ModelSource) -> Iterator[Hub]:
    """The tiny model on its main branch; at the tag `old` another commit of it, without one of its files."""
    model = {file.name: file.read_bytes() for file in tiny_text.path.iterdir()}
    others = {"README.md": b"hello", "pytorch_model.bin": bytes(100), ".gitattributes": b""}
    old = {name: content for name, content in model.items() if name != "openvino_tokenizer.xml"}
    with serving(Hub(ID, {MAIN: model | others, OLD: old}, {"main": MAIN, "old": OLD})) as hub:
        yield hub


def pull(hub: Hub, home: Path, *arguments: str, **env: str) -> tuple[int, str, str]:
    """The exit code, what is printed, and its last line on stderr."""
    command = [sys.executable, "-X", "faulthandler", "-m", "specvino.cli", "pull", *(arguments or (ID,))]
    env = os.environ | hub.env(home, **env)
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env) as process:
        try:
            out, err = process.communicate(timeout=300)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGABRT)  # faulthandler prints where it hangs
            raise AssertionError(process.communicate()[1]) from None
    return process.returncode, out, err


def snapshot(home: Path, commit: str = MAIN) -> Path:
    return home / "hub" / "models--org--tiny" / "snapshots" / commit


def test_a_model_is_downloaded_once(hub: Hub, tmp_path: Path, tiny_text: ModelSource) -> None:
    code, out, err = pull(hub, tmp_path)
    assert (code, out) == (0, f"{ID} is ready: {snapshot(tmp_path)}\n")
    assert err.splitlines() == ["specvino: downloading the model 1 MB"]
    names = {file.name for file in tiny_text.path.iterdir()}
    assert {file.name for file in snapshot(tmp_path).iterdir()} == names
    assert sorted(hub.downloads()) == sorted(names)
    for name in names:
        assert (snapshot(tmp_path) / name).read_bytes() == (tiny_text.path / name).read_bytes()
    hub.asked.clear()
    assert pull(hub, tmp_path) == (0, out, "")
    assert hub.downloads() == []


def test_a_commit_is_a_revision(hub: Hub, tmp_path: Path) -> None:
    assert pull(hub, tmp_path, ID, "--revision", MAIN)[0] == 0
    assert snapshot(tmp_path).is_dir()


def test_a_revision_without_all_files(hub: Hub, tmp_path: Path) -> None:
    code, out, err = pull(hub, tmp_path, ID, "--revision", "old")
    assert (code, out) == (2, "")
    assert err.startswith(f"specvino: {ID}: is neither in OpenVINO's format (openvino_tokenizer.xml is missing) nor")
    assert hub.downloads() == []


def test_a_checkpoint_with_its_own_code(hub: Hub, tmp_path: Path) -> None:
    """Only its config.json is downloaded."""
    config = b'{"auto_map": {"AutoModelForCausalLM": "m.M"}}'
    hub.commits[MAIN] = {"config.json": config, "model.safetensors": bytes(100), "m.py": b"print(1)"}
    code, out, err = pull(hub, tmp_path)
    assert (code, out) == (2, "")
    assert err.startswith(f"specvino: {ID}: is neither in OpenVINO's format (openvino_model.xml is missing) nor")
    assert f"--model {ID} --trust-remote-code FOLDER' (that runs the code" in err
    assert "OpenVINO/tiny-int4-ov" in err
    assert err.count("\n") == 1
    assert hub.downloads() == ["config.json"]


def test_a_revision_that_is_not_there(hub: Hub, tmp_path: Path) -> None:
    code, _, err = pull(hub, tmp_path, ID, "--revision", "nope")
    assert (code, err) == (2, f"specvino: {ID}: the hub {hub.url} has no revision 'nope' of it\n")


def test_a_model_that_is_not_there(hub: Hub, tmp_path: Path) -> None:
    code, _, err = pull(hub, tmp_path, "org/other")
    assert code == 2
    assert err.startswith(
        f"specvino: org/other: there is no such folder, and on the hub {hub.url} no such model, or it"
    )
    assert "HF_TOKEN" in err


@pytest.mark.parametrize("token", ["", "wrong"])
def test_a_gated_model(hub: Hub, tmp_path: Path, token: str) -> None:
    hub.token = "right"
    code, _, err = pull(hub, tmp_path, HF_TOKEN=token)
    assert code == 2
    assert err.startswith(f"specvino: {ID}: it is gated: ask for access at {hub.url}/{ID}, and give a token")
    assert err.count("\n") == 1


@pytest.mark.parametrize("token", ["right", ""])
def test_a_token_that_may_read_it(hub: Hub, tmp_path: Path, token: str) -> None:
    hub.token = "right"
    if not token:
        (tmp_path / "token").write_text("right")  # as `hf auth login` leaves it
    assert pull(hub, tmp_path, HF_TOKEN=token)[0] == 0


LARGE = "openvino_more.bin"


@pytest.fixture
def large(hub: Hub) -> bytes:
    """The content of a file that is large enough to be resumed."""
    hub.commits[MAIN][LARGE] = os.urandom(24_000_000)
    return hub.commits[MAIN][LARGE]


def ranges(hub: Hub) -> list[str | None]:
    """The ranges in which the large file was asked for."""
    return [given for method, path, given in hub.asked if method == "GET" and path.endswith(LARGE)]


def test_a_connection_that_breaks_is_resumed(hub: Hub, tmp_path: Path, large: bytes) -> None:
    hub.breaks_after = 15_000_000
    assert pull(hub, tmp_path)[0] == 0
    first, second = ranges(hub)
    assert first == "bytes=0-"
    assert 10_000_000 < int(str(second).removeprefix("bytes=").removesuffix("-")) <= 15_000_000
    assert (snapshot(tmp_path) / LARGE).read_bytes() == large


def test_a_last_piece_of_a_few_bytes_is_not_lost(hub: Hub, tmp_path: Path) -> None:
    """The check of the content reads the file, so nothing may be left in a buffer."""
    hub.commits[MAIN][LARGE] = os.urandom(10 * 2**20 + 1)
    assert pull(hub, tmp_path)[0] == 0
    assert ranges(hub) == ["bytes=0-"]
    assert (snapshot(tmp_path) / LARGE).read_bytes() == hub.commits[MAIN][LARGE]


def test_a_killed_pull_is_resumed(hub: Hub, tmp_path: Path, large: bytes) -> None:
    hub.breaks_after, hub.holds = 20_000_000, True
    command = [sys.executable, "-m", "specvino.cli", "pull", ID]
    with subprocess.Popen(command, env=os.environ | hub.env(tmp_path), stderr=subprocess.DEVNULL) as puller:
        blobs = snapshot(tmp_path).parents[1] / "blobs"
        wait_until(lambda: any(file.stat().st_size > 18_000_000 for file in blobs.glob("*.incomplete")))
        puller.kill()
    hub.asked.clear()
    code, _, err = pull(hub, tmp_path)
    assert (code, err) == (0, "specvino: downloading the model 25 MB\n")
    (given,) = ranges(hub)
    assert 18_000_000 < int(str(given).removeprefix("bytes=").removesuffix("-")) <= 20_000_000
    assert (snapshot(tmp_path) / LARGE).read_bytes() == large
    assert list(blobs.glob("*.incomplete")) == []


@pytest.mark.parametrize("there", [b"other", bytes(24_000_000), bytes(25_000_000)], ids=["part", "whole", "more"])
def test_what_a_pull_left_is_checked(hub: Hub, tmp_path: Path, large: bytes, there: bytes) -> None:
    """Nothing that is wrong is taken for the file: it is downloaded again."""
    blobs = snapshot(tmp_path).parents[1] / "blobs"
    blobs.mkdir(parents=True)
    (blobs / f"{hashlib.sha256(large).hexdigest()}.specvino.incomplete").write_bytes(there)
    assert pull(hub, tmp_path)[0] == 0
    assert (snapshot(tmp_path) / LARGE).read_bytes() == large
    assert list(blobs.glob("*.incomplete")) == []


def test_a_pull_that_broke_off_goes_on_with_the_files_that_are_left(
    hub: Hub, tmp_path: Path, tiny_text: ModelSource
) -> None:
    hub.breaks_after, hub.dies = 500_000, True  # the model's weights alone are longer
    code, _, err = pull(hub, tmp_path)
    assert code == 1
    assert f"specvino: {ID}: the download from {hub.url} was interrupted (" in err.splitlines()[-1]
    there = {file.name for file in snapshot(tmp_path).iterdir()} if snapshot(tmp_path).exists() else set()
    assert "openvino_model.bin" not in there
    code, _, err = pull(hub, tmp_path, HF_HUB_OFFLINE="1")
    assert code == 1
    assert "only a part of it is in the Hugging Face cache" in err
    assert "HF_HUB_OFFLINE" in err
    hub.broken = False
    hub.asked.clear()
    assert pull(hub, tmp_path)[0] == 0
    names = {file.name for file in tiny_text.path.iterdir()}
    assert set(hub.downloads()) == names - there
    assert all((snapshot(tmp_path) / name).read_bytes() == (tiny_text.path / name).read_bytes() for name in names)


def test_without_the_hub_and_with_the_cache_or_without(hub: Hub, tmp_path: Path) -> None:
    gone = Hub(ID, {}, url="http://127.0.0.1:9")
    code, _, err = pull(gone, tmp_path)
    assert code == 1
    assert "the hub http://127.0.0.1:9 can't be reached (" in err
    code, _, err = pull(hub, tmp_path, HF_HUB_OFFLINE="1")
    assert code == 1
    cache = tmp_path / "hub"
    assert err == (
        f"specvino: {ID}: there is no such folder, and it isn't in the Hugging Face cache ({cache}); HF_HUB_OFFLINE "
        "keeps it from being downloaded\n"
    )
    assert hub.asked == []
    pull(hub, tmp_path)
    hub.asked.clear()
    ready = f"{ID} is ready: {snapshot(tmp_path)}\n"
    assert pull(hub, tmp_path, HF_HUB_OFFLINE="1") == (0, ready, "")
    assert hub.asked == []
    assert pull(gone, tmp_path) == (0, ready, "")
    code, _, err = pull(hub, tmp_path, ID, "--revision", "old", HF_HUB_OFFLINE="1")
    assert code == 1
    assert "at the revision 'old'; HF_HUB_OFFLINE" in err


def test_a_snapshot_that_an_older_library_left(hub: Hub, tmp_path: Path, tiny_text: ModelSource) -> None:
    """It left no list of the repository's files."""
    snapshot(tmp_path).parent.mkdir(parents=True)
    snapshot(tmp_path).symlink_to(tiny_text.path)
    refs = snapshot(tmp_path).parents[1] / "refs"
    refs.mkdir()
    (refs / "main").write_text(MAIN)
    assert pull(hub, tmp_path, HF_HUB_OFFLINE="1")[0] == 0


def test_a_hub_that_sends_nothing(hub: Hub, tmp_path: Path) -> None:
    hub.silent = "/api/models/org/tiny/revision"
    code, out, err = pull(hub, tmp_path, HF_HUB_DOWNLOAD_TIMEOUT="1")
    assert (code, out) == (1, "")
    assert err.endswith(f"the hub {hub.url} can't be reached (timed out)\n")


def test_a_gguf_file_of_several(hub: Hub, tmp_path: Path) -> None:
    hub.commits[MAIN] = {"m-Q4_0.gguf": b"GGUF but no more", "m-Q8_0.gguf": bytes(9)}
    code, _, err = pull(hub, tmp_path)
    assert code == 2
    assert err.endswith(f"name one as in {ID}:Q4_K_M: m-Q4_0.gguf, m-Q8_0.gguf\n")
    code, _, err = pull(hub, tmp_path, f"{ID}:Q4_0")
    assert hub.downloads() == ["m-Q4_0.gguf"]
    assert "m-Q4_0.gguf: is not a GGUF file" in err


def test_a_folder_has_no_revision(tiny_text: ModelSource) -> None:
    for model in (str(tiny_text.path), "smollm2"):  # neither asks the hub
        run = CliRunner().invoke(main, ["pull", model, "--revision", "main"])
        assert run.exit_code == 2
        assert "--revision 'main' applies only to models of the Hugging Face hub" in run.output


def test_a_model_is_served_by_its_id(hub: Hub, tmp_path: Path) -> None:
    env = hub.env(tmp_path)
    with serving_a_model(ID, "--revision", MAIN, "--response-store", "none", env=env) as server:
        assert httpx.get(f"{server.url}/models").json()["data"][0]["id"] == ID
        body = {"model": ID, "prompt": "hello", "max_tokens": 2}
        assert httpx.post(f"{server.url}/completions", json=body, timeout=300).status_code == 200
