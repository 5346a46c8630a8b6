"""Names from which no dialect can be created; tests/portal/test_support_drives_all.py makes one."""

from datetime import date
from pathlib import Path

import pytest

from specvino.codegen.new_dialect import HEAD, files
from specvino.codegen.source import SpecError
from specvino.codegen.spec import Spec

DIALECTS = Path(__file__).parents[2] / "openapi" / "dialects"


@pytest.mark.parametrize(
    ("name", "message"),
    [("TGI", "small letters"), ("../x", "small letters"), ("vllm", "already a dialect"), ("specvino", "this project")],
)
def test_a_name_that_can_not_be(real: Spec, tmp_path: Path, name: str, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        files(real, name, name, tmp_path, date(2026, 1, 1))


@pytest.mark.parametrize("dialect", sorted(DIALECTS.glob("*.yaml")), ids=lambda path: path.stem)
def test_a_dialect_has_no_placeholder(dialect: Path) -> None:
    assert [line for line in dialect.read_text("utf-8").splitlines() if "# ?" in line] == []


def test_placeholders_are_marked_like_this() -> None:
    assert HEAD.count("# ?") > 10


def test_a_vocabulary_without_the_list(real: Spec, tmp_path: Path) -> None:
    (tmp_path / "openapi").mkdir()
    (tmp_path / "openapi" / "vocabulary.yaml").write_text("$defs: {}\n")
    with pytest.raises(SpecError, match=r"has no line `system: "):
        files(real, "tgi", "TGI", tmp_path, date(2026, 1, 1))
