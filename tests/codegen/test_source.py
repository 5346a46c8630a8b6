"""YAML without its surprises."""

import pytest

from specvino.codegen.source import SpecError, load


def test_dates_are_texts(tmp_path) -> None:
    (tmp_path / "a.yaml").write_text("day: 2026-11-21\noff: [1, 1.5, yes, null]\n")
    assert load(tmp_path / "a.yaml") == {"day": "2026-11-21", False: [1, 1.5, True, None]}


@pytest.mark.parametrize(
    ("text", "words"), [("a: 1\na: 2\n", "'a' is duplicated"), ("a: [1", "a.yaml"), ("a: {b, c", "a.yaml")]
)
def test_what_is_refused(tmp_path, text, words) -> None:
    (tmp_path / "a.yaml").write_text(text)
    with pytest.raises(SpecError, match=words):
        load(tmp_path / "a.yaml")


def test_a_file_that_is_not_there(tmp_path) -> None:
    with pytest.raises(SpecError, match=r"b\.yaml: No such file"):
        load(tmp_path / "b.yaml")
