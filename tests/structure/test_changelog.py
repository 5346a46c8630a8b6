"""Entries of CHANGELOG.md can be scanned, as RELEASING.md promises."""

import re

from structure.imports import PROJECT

RELEASING, CHANGELOG = ((PROJECT / name).read_text("utf-8") for name in ("RELEASING.md", "CHANGELOG.md"))


def test_each_entry_is_one_short_line() -> None:
    [most] = re.findall(r"one line of at most (\d+) characters", RELEASING)
    lines = CHANGELOG.partition("\n## ")[2].splitlines()
    assert sum(line.startswith("- ") for line in lines) > 200
    assert [line for line in lines if line.startswith(" ") or len(line.removeprefix("- ")) > int(most)] == []
