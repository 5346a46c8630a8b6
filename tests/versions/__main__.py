"""How old the documents of other systems are: `tox run -e upstream [-- SYSTEM…]`.

Reads the classes of each system's package, in the described version and in the newest one on the package index, and
writes docs/versions.md: what the newest version accepts or sends differently. Fails if `upstream/descriptions/` doesn't
have what the described version has; `--write` writes it. For a system that isn't on the index, `--source FOLDER` has
its sources.
"""

import argparse
import re
import subprocess
import sys
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from specvino.document.loading import dialect_file, load
from specvino.document.loading import systems as all_systems
from specvino.upstream import description
from specvino.upstream.compare import Comparison
from specvino.upstream.described import Described, Unreadable
from specvino.upstream.differences import Difference
from specvino.upstream.drift import system_of
from specvino.upstream.report import markdown_table
from specvino.upstream.table import Table, table

HEADINGS = ("field", "the newest version alone", "the described version alone", "of objects with")

PAGE = Path(__file__).parents[2] / "docs" / "versions.md"


@dataclass(frozen=True, slots=True)
class Newest:
    """The newest version on the package index, and how it differs from the described one, such as `vllm 0.33.0`."""

    described: str
    version: str
    differences: tuple[Difference, ...] = ()


def newest(system: str) -> Newest | None:
    """Returns the newest version of a system; None if it isn't on the index. Raises Unreadable."""
    try:
        entry = table(system)
    except Unreadable:
        return None
    if not isinstance(entry, Table) or entry.distribution is None:
        return None
    distribution = entry.distribution
    command = [sys.executable, "-m", "pip", "index", "versions", distribution]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    match = re.match(r"\S+ \(([^)]+)\)", done.stdout)
    if match is None:
        raise Unreadable(f"pip doesn't list the versions of {distribution}: {done.stderr.strip()}")
    version = match[1]
    source, old = description.read(system)
    if source == f"{distribution} {version}":
        return Newest(source, version)
    _, new = system_of(system, load(dialect_file(system)), version, None)
    return Newest(source, version, tuple(changes(old, new)))


def changes(old: Described, new: Described) -> list[Difference]:
    """Returns the differences between two versions: `system` alone has the new, `document` alone the old."""
    comparison = Comparison(old, new, {})
    return [difference for part in comparison.parts() for difference in comparison.of(part)]


def page(releases: dict[str, Newest | None], today: date) -> str:
    """Returns docs/versions.md."""
    lines = [
        "# How old the documents are",
        "",
        "The document of each system describes one version of the system's API; its classes are read from a package,",
        "whose versions may be numbered differently. `tox run -e upstream` compares the classes of that package with",
        f"those of the newest one on the package index. It wrote this page on {today.isoformat()}.",
        "",
        "| system | version of the API | of | age in days | package read | newest package | differences |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for system in all_systems():
        version = load(dialect_file(system))["x-dialect"]["version"]
        latest = releases.get(system)
        age = str((today - date.fromisoformat(version["date"])).days)
        cells = ("not on the package index", "", "")
        if latest is not None:
            cells = (latest.described, latest.version, str(len(latest.differences)))
        lines.append(" | ".join(["| " + system, version["name"], version["date"], age, *cells]) + " |")
    for system, latest in releases.items():
        if latest and latest.differences:
            lines += ["", f"## {system} {latest.version}", ""]
            lines += markdown_table(latest.differences, HEADINGS)
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(prog="versions", description=__doc__)
    parser.add_argument("systems", nargs="*", metavar="SYSTEM", help="by default all whose package is on the index")
    parser.add_argument("--source", type=Path, help="a folder with the sources of the only system")
    parser.add_argument("--write", action="store_true", help="write the descriptions")
    options = parser.parse_args()
    failed = False
    releases: dict[str, Newest | None] = {}
    for system in options.systems or [name for name in all_systems() if _is_on_index(name)]:
        document = load(dialect_file(system))
        try:
            source, described = system_of(system, document, None, options.source)
            if options.source is not None:
                source = f"{system} {document['x-dialect']['version']['name']}"
            text = description.text(source, described)
            file = description.FOLDER / f"{system}.json"
            if options.write:
                file.write_text(text, "utf-8")
            elif not file.is_file() or file.read_text("utf-8") != text:
                print(f"{file.name} doesn't have the classes of {source}: --write")
                failed = True
            releases[system] = newest(system)
        except Unreadable as error:
            print(error)
            failed = True
    if not options.systems:
        PAGE.write_text(page(releases, date.today()), "utf-8")
    for system, latest in releases.items():
        if latest is not None:
            print(f"{system}: newest {latest.version}, {len(latest.differences)} differences")
    return 1 if failed else 0


def _is_on_index(system: str) -> bool:
    try:
        entry = table(system)
    except Unreadable:
        return False
    return isinstance(entry, Table) and entry.distribution is not None


if __name__ == "__main__":
    sys.exit(main())
