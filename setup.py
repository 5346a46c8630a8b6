"""Compresses the largest data of a wheel by LZMA, takes the indentation out of the documents, and adds the
repository's address to the metadata; pyproject.toml has everything else of the package.

`portal/build.py`, `portal/reference` and `upstream/description.py` read both forms, because a clone has the files as
they are.
"""

import json
import lzma
import os
import re
import tarfile
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

# Takes a fifth off the reports, for six seconds of CPU time of a build.
PRESET = 9 | lzma.PRESET_EXTREME


class Packed(build_py):
    """Copies the packages, then compresses the script of the API reference, the descriptions of systems and the reports
    of servers."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        package = Path(self.build_lib, "specvino")
        for document in (package / "generated").rglob("*.json"):
            content = json.loads(document.read_text("utf-8"))
            document.write_text(json.dumps(content, separators=(",", ":"), ensure_ascii=False), "utf-8")
        script = package / "portal" / "reference" / "scalar.js"
        for file in (script, *(package / "upstream" / "descriptions").glob("*.json")):
            file.with_name(f"{file.name}.xz").write_bytes(lzma.compress(file.read_bytes(), preset=PRESET))
            file.unlink()
        reports = package / "docs" / "servers"
        with tarfile.open(reports / "reports.tar.xz", "w:xz", preset=PRESET) as archive:
            for report in sorted(reports.glob("*.ndjson")):
                archive.add(report, report.name, filter=_without_owner)
                report.unlink()


def _without_owner(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """Returns a member whose head is the same whoever builds the wheel, and when."""
    return member.replace(mtime=0, mode=0o644, uid=0, gid=0, uname="", gname="", deep=False)


def _page() -> dict[str, object]:
    """Returns the description and the links of PyPI's page. PyPI resolves no relative links, so those of the README
    become absolute if .github/workflows/package.yml states the repository and the commit.
    """
    text = Path("README.md").read_text("utf-8")
    links = {}
    if repository := os.environ.get("SPECVINO_REPOSITORY"):
        commit = os.environ["SPECVINO_COMMIT"]

        def absolute(link: re.Match[str]) -> str:
            kind = "raw" if link[1].endswith(".png") else "blob"
            return f"]({repository}/{kind}/{commit}/{link[1]})"

        text = re.sub(r"\]\((?!https?:|#)([^)]+)\)", absolute, text)
        changelog = f"{repository}/blob/HEAD/CHANGELOG.md"
        links = {"Source": repository, "Issues": f"{repository}/issues", "Changelog": changelog}
    return {"long_description": text, "long_description_content_type": "text/markdown", "project_urls": links}


setup(cmdclass={"build_py": Packed}, **_page())
