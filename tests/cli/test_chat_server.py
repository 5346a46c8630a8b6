"""A server for one chat."""

import httpx
import psutil
import pytest

from specvino.cli.chat_server import serving


def test_it_ends_with_the_session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPECVINO_ENGINE", "scripted")
    with serving(None) as url:
        assert httpx.get(f"{url}/models").status_code == 200
        (child,) = psutil.Process().children()
    assert not child.is_running()


def test_what_cannot_be_served(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended, serving("no-such-model"):
        pass
    assert ended.value.code == 1
    assert "no-such-model: no such model" in capfd.readouterr().err
