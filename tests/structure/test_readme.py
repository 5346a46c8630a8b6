"""The first screen of the README."""

import re

from specvino.generated.systems import SYSTEMS
from structure.imports import PROJECT
from structure.readme import FIELDS, README, drawn

TEXT = README.read_text("utf-8")


def test_the_table_is_that_of_the_document() -> None:
    assert drawn(TEXT) == TEXT, "write it anew: PYTHONPATH=tests .venv/bin/python -m structure.readme"
    assert all(f"| `{field}` |" in TEXT for field in FIELDS)


def test_the_number_of_systems_is_that_of_the_document() -> None:
    assert f"/systems-{len(SYSTEMS)}-" in TEXT


def test_the_pictures_are_there_and_small() -> None:
    pictures = re.findall(r"!\[[^\]]+\]\((?!https?:)([^)]+)\)", TEXT)
    assert len(pictures) == 2
    assert all(10_000 < (PROJECT / picture).stat().st_size < 80_000 for picture in pictures)
