"""What `specvino report` prints, and what it doesn't."""

from pathlib import Path

import pytest
from support.serving_here import serving_here
from typer.testing import CliRunner

from specvino.cli import main, report
from specvino.cli.report_servers import Server

SECRETS = (
    "sk-of-the-file",
    "sk-of-the-environment",
    "sk-of-the-server",
    "hun@ter2",
    "ter2",
    "sk-in-a-header",
    "hidden-by-name",
)

# Of the end of a log: what is and isn't the name of a secret.
TIMINGS = "time_to_first_token=0.031 time_per_output_token=0.004 tokens=5"
NAMED = f"{TIMINGS} token=hidden-by-name client_secret=hidden-by-name"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    file = tmp_path / "log"
    lines = [f"line {number} with sk-of-the-file" for number in range(20)]
    lines[2] = "INFO specvino.engine: m: memory: 4.0 GB of 8.0 GB are free"
    lines += [NAMED, "sk-of-the-server", "Authorization: Bearer sk-in-a-header", f"{Path.home()}/models ```"]
    file.write_text("\n".join(lines))
    return file


@pytest.fixture
def start_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "keys").write_text("# team\nsk-of-the-file requests-per-minute=5\n")
    words = ("serve", "m", "--api-key-file", "keys", "--response-store", "postgresql+asyncpg://me:hun@ter2@db/x")
    server = Server(words, tmp_path, {"SPECVINO_API_KEY": "sk-of-the-server"})
    monkeypatch.setattr(report, "servers", lambda _: iter([server]))
    monkeypatch.setenv("SPECVINO_API_KEY", "sk-of-the-environment")


def printed(*arguments: str) -> str:
    result = CliRunner().invoke(main, ["report", *arguments])
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.usefixtures("start_line")
def test_what_an_issue_needs_and_nothing_secret(log: Path) -> None:
    with serving_here("--engine", "scripted", "--response-store", "none") as server:
        text = printed(server.url.removesuffix("/v1"), "--log", str(log), "--lines", "6")
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
        "line 19 with [redacted]",
        "Bearer [redacted]",
        f"{TIMINGS} token=[redacted] client_secret=[redacted]",
        "~/models '''",
    ):
        assert shown in text, text
    assert "line 17" not in text
    assert not any(secret in text for secret in SECRETS)
    assert text.count("```") == 2 * text.count("\n## ") + 2


def test_without_a_server() -> None:
    text = printed("http://127.0.0.1:1")
    assert "http://127.0.0.1:1/health: ConnectError" in text
    assert "--log FILE shows its end" in text
