"""Which versions an advisory affects."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from packaging.version import Version

from audit.database import audited, constraints


def advisory(id: str, events: list[dict[str, str]], **fields: Any) -> dict[str, Any]:
    package = {"ecosystem": "PyPI", "name": "Some_Package"}
    affected = {"package": package, "ranges": [{"type": "ECOSYSTEM", "events": events}], "versions": []}
    return {"id": id, "modified": f"2026-0{id}-01T00:00:00Z", "summary": "bad", "affected": [affected]} | fields


def found(folder: Path, version: str, *advisories: dict[str, Any]) -> tuple[str, list[str]]:
    with zipfile.ZipFile(folder / "all.zip", "w") as archive:
        for one in advisories:
            archive.writestr(f"{one['id']}.json", json.dumps(one))
    return audited(folder / "all.zip", {"some-package": [Version(version)]})


@pytest.mark.parametrize(
    ("version", "affected"),
    [("1.0", True), ("1.9", True), ("2.0", False), ("3.0rc1", False), ("3.0", True), ("3.2", True), ("3.3", False)],
)
def test_ranges(tmp_path: Path, version: str, affected: bool) -> None:
    events = [{"introduced": "0"}, {"fixed": "2.0"}, {"introduced": "3.0"}, {"last_affected": "3.2"}]
    assert bool(found(tmp_path, version, advisory("1", events))[1]) is affected


def test_a_finding_has_all_numbers_and_the_database_a_date(tmp_path: Path) -> None:
    always = [{"introduced": "0"}]
    withdrawn = advisory("2", always, withdrawn="2026-01-01T00:00:00Z")
    other = advisory("3", always, affected=[{"package": {"ecosystem": "npm", "name": "some-package"}}])
    newest, findings = found(tmp_path, "1.0", advisory("1", always, aliases=["CVE-1", "GHSA-1"]), withdrawn, other)
    assert findings == ["some-package 1.0: 1 CVE-1 GHSA-1: bad"]
    assert newest.startswith("2026-03-01")


def test_listed_versions(tmp_path: Path) -> None:
    one = advisory("1", [{"introduced": "9"}])
    one["affected"][0]["versions"] = ["1.0"]
    assert found(tmp_path, "1.0", one)[1]
    assert not found(tmp_path, "1.1", one)[1]


def test_constraints() -> None:
    by_python = "c[extra]==2.0 ; python_full_version < '3.12'  # why\nc==2.1 ; python_full_version >= '3.12'\n"
    text = f"# ours\nA_b==1.0\n\n{by_python}"
    assert constraints(text) == {"a-b": [Version("1.0")], "c": [Version("2.0"), Version("2.1")]}
    with pytest.raises(ValueError, match="no version"):
        constraints("a>=1")
    ours = constraints(Path(__file__).parents[2].joinpath("constraints.txt").read_text("utf-8"))
    assert "starlette" in ours
