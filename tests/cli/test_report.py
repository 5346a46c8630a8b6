"""What `specvino report` prints, and what it doesn't."""

from pathlib import Path

import psutil
import pytest
from support.serving_here import serving_here
from typer.testing import CliRunner

from specvino.cli import main, report

SECRETS = ("sk-of-the-file", "sk-of-the-environment", "hun@ter2", "ter2", "sk-in-a-header")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    file = tmp_path / "log"
    lines = [f"line {number} with sk-of-the-file" for number in range(20)]
    lines[2] = "INFO specvino.engine: m: memory: 4.0 GB of 8.0 GB are free"
    file.write_text("\n".join([*lines, "Authorization: Bearer sk-in-a-header", f"{Path.home()}/models ```"]))
    return file


@pytest.fixture
def start_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = tmp_path / "keys"
    keys.write_text("# team\nsk-of-the-file requests-per-minute=5\n")
    words = ["serve", "m", "--api-key-file", str(keys), "--response-store", "postgresql+asyncpg://me:hun@ter2@db/x"]
    monkeypatch.setattr(report, "_servers", lambda _: iter([words]))
    monkeypatch.setenv("SPECVINO_API_KEY", "sk-of-the-environment")


def printed(*arguments: str) -> str:
    result = CliRunner().invoke(main, ["report", *arguments])
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.usefixtures("start_line")
def test_what_an_issue_needs_and_nothing_secret(log: Path) -> None:
    with serving_here("--engine", "scripted", "--response-store", "none") as server:
        text = printed(server.url.removesuffix("/v1"), "--log", str(log), "--lines", "5")
    for shown in (
        "\nspecvino ",
        "\nopenvino-genai ",
        "logical cores",
        "GiB of memory are free",
        "postgresql+asyncpg://[user]@db/x",
        "SPECVINO_API_KEY is set",
        '/health: 200 "{\\"status\\":\\"ok\\"}"',
        "num_requests_running",
        "m: memory: 4.0 GB",
        "line 19 with [key]",
        "Bearer [key]",
        "~/models '''",
    ):
        assert shown in text, text
    assert "line 16" not in text
    assert not any(secret in text for secret in SECRETS)
    assert text.count("```") == 2 * text.count("\n## ") + 2


def test_without_a_server() -> None:
    text = printed("http://127.0.0.1:1")
    assert "http://127.0.0.1:1/health: ConnectError" in text
    assert "--log FILE shows its end" in text


def test_processes_that_serve() -> None:
    class Fake(psutil.Process):
        def __init__(self, *words: str) -> None:
            self.words = words

        def cmdline(self) -> list[str]:
            if not self.words:
                raise psutil.AccessDenied(1)
            return list(self.words)

    serving = Fake("/usr/bin/python", "/usr/bin/specvino", "serve", "m", "--port", "1")
    module = Fake("python", "-m", "specvino.cli", "serve")
    others = (Fake(), Fake("serve"), Fake("nginx", "serve"), Fake("specvino", "pull", "m"))
    assert list(report._servers([serving, *others, module])) == [["serve", "m", "--port", "1"], ["serve"]]
