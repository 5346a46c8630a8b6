"""Reading OSV's advisories (https://ossf.github.io/osv-schema/), and which versions they affect."""

import json
import re
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version


def constraints(text: str) -> dict[str, Version]:
    """Returns the versions in a file of constraints, by canonical names. Raises ValueError if one has none."""
    versions: dict[str, Version] = {}
    for line in filter(None, (re.sub(r"\s*#.*", "", line).strip() for line in text.splitlines())):
        requirement = Requirement(line)
        (specifier,) = requirement.specifier
        if specifier.operator != "==":
            raise ValueError(f"{line} has no version")
        versions[canonicalize_name(requirement.name)] = Version(specifier.version)
    return versions


def audited(database: Path, versions: Mapping[str, Version]) -> tuple[str, list[str]]:
    """Returns when the newest advisory of a database was modified, and a line for each that affects one of the
    versions."""
    newest, findings = "", []
    with zipfile.ZipFile(database) as archive:
        for name in sorted(archive.namelist()):
            advisory = json.loads(archive.read(name))
            newest = max(newest, advisory["modified"])
            if "withdrawn" in advisory:
                continue
            for package in sorted(set(_affected(advisory, versions))):
                numbers = " ".join([advisory["id"], *advisory.get("aliases", ())])
                summary = advisory.get("summary") or advisory.get("details", "").partition("\n")[0]
                findings.append(f"{package} {versions[package]}: {numbers}: {summary}")
    return newest, findings


def _affected(advisory: Mapping[str, Any], versions: Mapping[str, Version]) -> Iterator[str]:
    for affected in advisory.get("affected", ()):
        package = affected.get("package", {})
        name = canonicalize_name(package.get("name", ""))
        if package.get("ecosystem") != "PyPI" or name not in versions:
            continue
        ranges = [range["events"] for range in affected.get("ranges", ()) if range["type"] == "ECOSYSTEM"]
        if str(versions[name]) in affected.get("versions", ()) or any(
            _is_in(versions[name], events) for events in ranges
        ):
            yield name


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
