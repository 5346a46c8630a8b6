"""Commands that install an extra."""

import json
from importlib.metadata import PackageNotFoundError
from typing import Any

import pytest

from specvino.conformance import installation


@pytest.mark.parametrize(
    ("origin", "arguments"),
    [
        (None, "'specvino[serve]'"),
        ({"url": "file:///a%20b/it.whl", "archive_info": {}}, "'/a b/it.whl[serve]'"),
        ({"url": "file:///clone", "dir_info": {}}, "'/clone[serve]'"),
        ({"url": "file:///clone", "dir_info": {"editable": True}}, "-e '/clone[serve]'"),
        ({"url": "https://x/it.whl", "archive_info": {}}, "'specvino[serve] @ https://x/it.whl'"),
        (
            {"url": "https://x/it.git", "vcs_info": {"vcs": "git", "commit_id": "abc"}},
            "'specvino[serve] @ git+https://x/it.git@abc'",
        ),
        (
            {"url": "https://x/it.git", "vcs_info": {"vcs": "git", "commit_id": "abc"}, "subdirectory": "py"},
            "'specvino[serve] @ git+https://x/it.git@abc#subdirectory=py'",
        ),
        ({"url": "file:///it%27s.whl", "archive_info": {}}, """'/it'"'"'s.whl[serve]'"""),
    ],
)
def test_an_extra_comes_from_where_the_package_is_from(
    origin: dict[str, Any] | None, arguments: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Installed:
        def read_text(self, name: str) -> str | None:
            assert name == "direct_url.json"
            return json.dumps(origin) if origin else None

    monkeypatch.setattr(installation, "distribution", lambda _: Installed())
    assert installation.command("serve") == f"pip install {arguments}"


def test_without_metadata_it_is_the_index(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(_: str) -> None:
        raise PackageNotFoundError

    monkeypatch.setattr(installation, "distribution", missing)
    assert installation.command("fuzz") == "pip install 'specvino[fuzz]'"
