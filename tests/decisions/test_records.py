"""The records of decisions are whole, and what the code says of them is true."""

import re
from collections.abc import Iterable
from pathlib import Path

import pytest
from structure.imports import FOLDERS, PROJECT

FOLDER = PROJECT / "docs" / "decisions"
RECORDS = {path.name[:3]: path for path in sorted(FOLDER.glob("[0-9][0-9][0-9]-*.md"))}

# Non-public imports: what is missing is a public way, of which a script can't say that it has come.
WITHOUT_SCRIPT = {"001"}


def sections(path: Path) -> list[str]:
    return re.findall(r"^## (.+)$", path.read_text("utf-8"), re.MULTILINE)


def mentions(folders: Iterable[str]) -> set[tuple[str, str]]:
    """The numbers of decisions that the code in these folders names, and where. Of `docs` it is the package alone."""
    named = set()
    for folder in folders:
        for path in (PROJECT / folder).rglob("*.py"):
            if path.is_relative_to(FOLDER):
                continue
            for numbers in re.findall(r"[Dd]ecisions? (\d{3}(?:, \d{3})*)", path.read_text("utf-8")):
                named |= {(number, str(path.relative_to(PROJECT))) for number in re.findall(r"\d+", numbers)}
    return named


@pytest.mark.parametrize("number", RECORDS)
def test_a_record_is_whole(number: str) -> None:
    path = RECORDS[number]
    text, titles = path.read_text("utf-8"), sections(path)
    assert text.startswith(f"# {number}. ")
    assert titles[:2] == ["Context", "Decision"]
    if titles[-1] == "Revisit when":
        assert "Reproduction" not in titles
    elif number not in WITHOUT_SCRIPT:
        assert titles == ["Context", "Decision", "Source", "Reproduction", "Delete when"]
        named = re.findall(r"`python (docs/decisions/reproductions/\S+\.py)`", text)
        assert len(named) == 1
        assert Path(named[0]).name.startswith(f"{number}_")
        assert (PROJECT / named[0]).is_file()


def test_records_have_numbers_of_their_own() -> None:
    assert len(RECORDS) == len(list(FOLDER.glob("[0-9]*.md")))


def test_the_index_has_every_record() -> None:
    listed = re.findall(r"\]\(([0-9]{3}-[^)]+\.md)\)", (FOLDER / "README.md").read_text("utf-8"))
    assert sorted(listed) == sorted(path.name for path in RECORDS.values())


def test_every_script_has_a_record() -> None:
    numbers = [path.name[:3] for path in (FOLDER / "reproductions").glob("[0-9]*.py")]
    assert sorted(numbers) == sorted(set(numbers) & RECORDS.keys())


def test_the_code_names_records_that_exist() -> None:
    named = mentions([*FOLDERS, "tests"])
    assert {(number, where) for number, where in named if number not in RECORDS} == set()


def test_the_code_names_every_workaround() -> None:
    """What a test says of it doesn't count: the reader of the workaround has to be led to its record."""
    workarounds = {number for number, path in RECORDS.items() if "Reproduction" in sections(path)}
    assert workarounds
    assert workarounds - {number for number, _ in mentions(FOLDERS)} == set()
