"""Compresses the two largest data of a wheel by LZMA, and takes the indentation out of the documents; pyproject.toml
has everything else of the package.

`portal/packed.py` and `portal/reference` read both forms, because a clone has the files as they are.
"""

import json
import lzma
import tarfile
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class Packed(build_py):
    """Copies the packages, then compresses the script of the API reference and the reports of servers."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        package = Path(self.build_lib, "specvino")
        for document in (package / "generated").rglob("*.json"):
            content = json.loads(document.read_text("utf-8"))
            document.write_text(json.dumps(content, separators=(",", ":"), ensure_ascii=False), "utf-8")
        script = package / "portal" / "reference" / "scalar.js"
        script.with_name(f"{script.name}.xz").write_bytes(lzma.compress(script.read_bytes()))
        script.unlink()
        reports = package / "docs" / "servers"
        with tarfile.open(reports / "reports.tar.xz", "w:xz") as archive:
            for report in sorted(reports.glob("*.ndjson")):
                archive.add(report, report.name, filter=_without_owner)
                report.unlink()


def _without_owner(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """Returns a member whose head is the same whoever builds the wheel, and when."""
    return member.replace(mtime=0, mode=0o644, uid=0, gid=0, uname="", gname="", deep=False)


setup(cmdclass={"build_py": Packed})
