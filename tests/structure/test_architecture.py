"""ARCHITECTURE.md is short, its drawings are those of the code, and its links lead somewhere."""

import re
from pathlib import Path

import pytest

from structure import ANEW
from structure.diagrams import ARCHITECTURE, DRAWINGS, ILLUSTRATED, drawn
from structure.imports import FOLDERS, PROJECT, imported

TEXT = ARCHITECTURE.read_text("utf-8")
MAPS = [
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "README.md",
    *(f"{path.parent.name}/README.md" for path in PROJECT.glob("*/README.md")),
]


def test_it_is_read_at_once() -> None:
    assert len(TEXT.splitlines()) <= 80


@pytest.mark.parametrize("document", ILLUSTRATED, ids=lambda path: path.relative_to(PROJECT).as_posix())
def test_drawings_are_those_of_the_code(document: Path) -> None:
    text = document.read_text("utf-8")
    assert drawn(text) == text, ANEW


def test_each_drawing_is_shown() -> None:
    texts = "".join(document.read_text("utf-8") for document in ILLUSTRATED)
    assert sorted(re.findall("<!-- drawn: ([a-z-]+) -->", texts)) == sorted(DRAWINGS)


@pytest.mark.parametrize("folder", FOLDERS)
def test_it_names_each_code_folder(folder: str) -> None:
    assert f"`{folder}/`" in TEXT


@pytest.mark.parametrize("document", MAPS)
def test_links_and_paths_lead_somewhere(document: str) -> None:
    """Links, and names in backquotes that begin with a folder of ours (`engine/output/stop.py`)."""
    file = PROJECT / document
    text = re.sub(r"```.*?```", "", file.read_text("utf-8"), flags=re.DOTALL)
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in link]
    folders = "|".join(path.name for path in PROJECT.iterdir() if path.is_dir() and not path.name.startswith("."))
    paths = [path for path in re.findall(rf"`((?:{folders})/[^`\s]*)`", text) if not set("<>{{*…").intersection(path)]
    lost = [link for link in links if not (file.parent / link).exists()]
    lost += [path for path in paths if not any((PROJECT / (path + end)).exists() for end in ("", ".py"))]
    assert lost == []


def test_the_grammar_package_s_tests_need_nothing_else() -> None:
    """As `tox run -e grammar` runs them: neither other code of ours nor helpers of other tests."""
    sources = [path.read_text("utf-8") for path in (PROJECT / "tests" / "engine" / "grammar").rglob("*.py")]
    names = {name for source in sources for name in imported(source)}
    assert names
    assert {name for name in names if not f"{name}.".startswith("engine.grammar.")} == set()
    assert not any(re.search(r"^(from|import) support\b", source, re.MULTILINE) for source in sources)
