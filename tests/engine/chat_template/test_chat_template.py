"""A last message that is left open."""

from typing import Any

import pytest

from specvino.engine.chat_template.chat_template import cut_at_mark, mark_end

SEAM = "\ue000"


def opened(content: str, *, trims: bool = False, before: str = "<a>", behind: str = "</a>\n") -> str:
    """Returns the prompt of a template that writes texts around the content."""
    turn: dict[str, Any] = {"role": "assistant", "content": content}
    mark_end(turn, SEAM)
    return cut_at_mark(before + (turn["content"].strip() if trims else turn["content"]) + behind, SEAM)


@pytest.mark.parametrize("content", ["", "a", "a ", "a\n\n", " a", f"a{SEAM}", f"{SEAM}a{SEAM}b"])
def test_what_stands_behind_is_cut_off(content: str) -> None:
    assert opened(content) == "<a>" + content
    assert opened(content, behind="") == "<a>" + content


def test_a_template_that_trims_trims_this_too() -> None:
    assert opened(" a \n", trims=True) == "<a>a"


def test_what_stands_before_or_behind_may_have_seams() -> None:
    assert (
        opened("a", before=f"{SEAM}b{SEAM}{SEAM}c{SEAM}", behind=f"{SEAM}d{SEAM}{SEAM}e")
        == f"{SEAM}b{SEAM}{SEAM}c{SEAM}a"
    )


def test_a_template_that_doesn_t_write_the_message() -> None:
    with pytest.raises(ValueError, match="last message"):
        cut_at_mark("<a>b</a>", SEAM)
