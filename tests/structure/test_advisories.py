"""The page of advisories and the tests that it names are of the same numbers."""

import re

from structure.imports import PROJECT

PAGE = PROJECT / "docs" / "advisories.md"
TESTS = PROJECT / "tests" / "e2e" / "test_advisories.py"

# What tells a number from all others: CVE-2026-48710, PYSEC-2026-4350, GHSA-vrq3-r879-7m65.
_NUMBER = re.compile(r"(?:CVE|PYSEC)[-_]\d{4}[-_](\d+)|GHSA[-_](\w{4}[-_]\w{4}[-_]\w{4})", re.IGNORECASE)


def numbers(text: str) -> set[str]:
    return {(match[1] or match[2]).replace("_", "-").lower() for match in _NUMBER.finditer(text)}


def test_each_has_a_test() -> None:
    rows = [line.split("|")[1] for line in PAGE.read_text("utf-8").splitlines() if _NUMBER.search(line)]
    named = " ".join(re.findall(r"^def (test_\w+)", TESTS.read_text("utf-8"), re.MULTILINE))
    # A second number of the same year is shortened: cve_2026_48710_and_49468.
    tested = numbers(re.sub(r"_and_(\d)", r" cve_2026_\1", named).replace("_and_", " "))
    without_aliases = numbers(" ".join(re.sub(r"\(.*\)", "", row) for row in rows))
    assert without_aliases == tested != set()
