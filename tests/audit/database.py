"""Reading OSV's advisories (https://ossf.github.io/osv-schema/), and which versions they affect."""

import json
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version


def constraints(text: str) -> dict[str, list[Version]]:
    """Returns the versions in a file of constraints, by canonical names; a package has several if they depend on the
    environment. Raises ValueError if a line has none."""
    versions: dict[str, list[Version]] = {}
    for line in filter(None, (re.sub(r"\s*#.*", "", line).strip() for line in text.splitlines())):
        requirement = Requirement(line)
        (specifier,) = requirement.specifier
        if specifier.operator != "==":
            raise ValueError(f"{line} has no version")
        versions.setdefault(canonicalize_name(requirement.name), []).append(Version(specifier.version))
    return versions


def audited(database: Path, versions: Mapping[str, Sequence[Version]]) -> tuple[str, list[str]]:
    """Returns when the newest advisory of a database was modified, and a line for each that affects one of the
    versions."""
    newest, findings = "", []
    with zipfile.ZipFile(database) as archive:
        for name in sorted(archive.namelist()):
            advisory = json.loads(archive.read(name))
            newest = max(newest, advisory["modified"])
            if "withdrawn" in advisory:
                continue
            for package, version in sorted(set(_affected(advisory, versions))):
                numbers = " ".join([advisory["id"], *advisory.get("aliases", ())])
                summary = advisory.get("summary") or advisory.get("details", "").partition("\n")[0]
                findings.append(f"{package} {version}: {numbers}: {summary}")
    return newest, findings


def _affected(advisory: Mapping[str, Any], versions: Mapping[str, Sequence[Version]]) -> Iterator[tuple[str, Version]]:
    for affected in advisory.get("affected", ()):
        package = affected.get("package", {})
        name = canonicalize_name(package.get("name", ""))
        if package.get("ecosystem") != "PyPI" or name not in versions:
            continue
        ranges = [range["events"] for range in affected.get("ranges", ()) if range["type"] == "ECOSYSTEM"]
        for version in versions[name]:
            if str(version) in affected.get("versions", ()) or any(_is_in(version, events) for events in ranges):
                yield name, version


def _is_in(version: Version, events: list[dict[str, str]]) -> bool:
    """Returns whether a version is in a range: its last event is an introduction, or a last affected version."""
    ordered = sorted(((_version(value), kind) for event in events for kind, value in event.items()), key=lambda e: e[0])
    inside = False
    for at, kind in ordered:
        if kind == "introduced" and at <= version:
            inside = True
        elif (kind == "fixed" and at <= version) or (kind == "last_affected" and at < version):
            inside = False
    return inside


def _version(text: str) -> Version:
    return Version("0.dev0" if text == "0" else text)
