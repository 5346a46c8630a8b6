"""The first screen of the README."""

import re

from specvino.generated.systems import SYSTEMS
from structure import ANEW
from structure.imports import PROJECT
from structure.readme import FIELDS, README, drawn

TEXT = README.read_text("utf-8")


def test_table_and_badge_are_those_of_the_document() -> None:
    assert drawn(TEXT) == TEXT, ANEW
    assert all(f"| `{field}` |" in TEXT for field in FIELDS)
    assert f"/systems-{len(SYSTEMS)}-" in TEXT


def test_what_is_stale_is_drawn_anew() -> None:
    stale = (
        "![7 systems](https://img.shields.io/badge/systems-7-6d1a36)\n<!-- drawn: fields -->\n| old |\n<!-- end -->\n"
    )
    anew = drawn(stale)
    assert f"![{len(SYSTEMS)} systems]" in anew
    assert "| old |" not in anew


def test_the_pictures_are_there_and_small() -> None:
    pictures = re.findall(r"!\[[^\]]+\]\((?!https?:)([^)]+)\)", TEXT)
    assert len(pictures) == 2
    assert all(10_000 < (PROJECT / picture).stat().st_size < 80_000 for picture in pictures)
