"""Counted repetitions in languages that only XGrammar reads."""

from typing import Any

import pytest

from specvino.engine.grammar import GrammarError, lower_structural_tag
from specvino.engine.grammar._structural_tags.for_xgrammar import MOST_REPEATED, repeated


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("a{3}", 2),
        ("a{3}b{2,5}c*", 6),
        ("a{2,}", 1),
        ("(ab){4}", 6),
        ("((a|b){3}c){2}", 6 + 10),  # a|b is three parts with its bar
        ("[a-z{9}]{3}", 2),
        (r"\{9\}", 0),
        ('root ::= "{9}" "ab"{2}', 1),
        ("a{0}", 0),
        ("a{1", 0),
    ],
)
def test_counted_repetitions_are_written_out(text: str, count: int) -> None:
    assert repeated(text) == count


@pytest.mark.parametrize(
    "format",
    [
        {"type": "grammar", "grammar": 'root ::= ("a" | "b"){999}'},
        {"type": "regex", "pattern": "((((a|b){1,99}c?){1,99}d?){1,99}e?){1,99}"},
    ],
)
def test_what_repeats_too_much_is_refused_at_its_place(format: Any) -> None:
    with pytest.raises(GrammarError, match=f"at most {MOST_REPEATED} are accepted") as caught:
        lower_structural_tag({"type": "structural_tag", "format": format})
    assert caught.value.path == ("format", *format.keys() - {"type"})
