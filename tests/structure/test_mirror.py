"""A test stands where its code stands, and the map of the tests has every folder."""

import re
from pathlib import Path

import pytest

from structure.imports import FOLDERS, PROJECT

TESTS = PROJECT / "tests"

# Code folders that aren't mirrored, and why.
ELSEWHERE = {
    "docs": "it has no code: tests/docs holds what the pages say",
    "generated": "tests/codegen holds what writes it",
    "sdk": "client packages are tested as they are built, by their languages",
}
MIRRORED = [folder for folder in FOLDERS if folder not in ELSEWHERE]

# Tests of no one module, by file or folder, and why.
OF_SEVERAL = {
    "codegen/test_types.py": "mypy on generated/ and on those who use it",
    "conformance/test_mutants.py": "the whole judge on wrong servers",
    "conformance/test_legal_oddities.py": "the whole judge on servers that do what is odd, and allowed",
    "conformance/test_other_servers.py": "the whole judge on other right servers",
    "conformance/test_reference_server.py": "the whole judge on the right server",
    "engine/chat_template/test_kinds.py": "the templates' kinds of calls, read, forced and rendered",
    "engine/openvino/vocabularies": "the whole engine on the vocabularies of large models",
    "engine/output_parsers/test_any_split.py": "all parsers",
    "engine/output_parsers/test_every_format.py": "all parsers",
    "handlers/test_mistakes.py": "all endpoints make the same of two mistakes",
    "portal/test_costs.py": "a page that the benchmark writes",
    "portal/test_support_drives_all.py": "from the dialects' files to pages, clients and commands",
}


def has_its_code(test: Path) -> bool:
    """Whether a module or a package stands at the test's place under the test's name, or under one that this begins
    with; the folder's own name is that of its package, and a private module is known without its underscore."""
    folder, name = test.parent, test.stem.removeprefix("test_")
    if not (PROJECT / folder).is_dir():
        return False
    modules = {path.stem.lstrip("_") for path in (PROJECT / folder).iterdir() if path.suffix == ".py" or path.is_dir()}
    return any(name == module or name.startswith(f"{module}_") for module in modules | {folder.name})


def excused(test: Path) -> bool:
    return any(test.is_relative_to(folder) for folder in OF_SEVERAL)


@pytest.mark.parametrize("folder", MIRRORED)
def test_each_test_stands_where_its_code_stands(folder: str) -> None:
    tests = [path.relative_to(TESTS) for path in sorted((TESTS / folder).rglob("test_*.py"))]
    assert tests
    assert [test.as_posix() for test in tests if not has_its_code(test) and not excused(test)] == []


def test_what_is_not_mirrored_is_there() -> None:
    assert ELSEWHERE.keys() <= set(FOLDERS)


@pytest.mark.parametrize("path", OF_SEVERAL)
def test_what_is_excused_is_there_and_needs_it(path: str) -> None:
    excused = TESTS / path
    tests = [excused] if excused.is_file() else sorted(excused.rglob("test_*.py"))
    assert tests
    assert not any(has_its_code(test.relative_to(TESTS)) for test in tests)


def test_the_map_has_every_folder() -> None:
    folders = {path.name for path in TESTS.iterdir() if path.is_dir() and not path.name.startswith(("__", "."))}
    links = re.findall(r"\]\(([a-z0-9_]+)/\)", (TESTS / "README.md").read_text("utf-8"))
    assert folders - set(links) == set()
