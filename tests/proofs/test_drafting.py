"""Drafts change no text. They are taken where there are any, and there they make pieces of several tokens."""

from proofs import everywhere, proves
from proofs.asking import Ask

NAMES = everywhere("num_assistant_tokens", "assistant_confidence_threshold", "max_ngram_size")


@proves(*NAMES)
def test_without_speculative_decoding_they_are_refused(ask: Ask) -> None:
    assert ask.refusal("count", **{ask.path: 1}) == ("unsupported_parameter", ask.path)


@proves(*everywhere("num_assistant_tokens"), on="drafting", ways=["streamed"])
def test_longer_drafts_make_longer_pieces(ask: Ask) -> None:
    counts = [len(ask("count", num_assistant_tokens=number).events) for number in (1, 9)]
    assert counts[1] * 2 < counts[0]


@proves(*everywhere("assistant_confidence_threshold"), on="drafting", ways=["streamed"])
def test_a_threshold_makes_shorter_drafts_than_a_fixed_number(ask: Ask) -> None:
    counts = [len(ask("count", **settings).events) for settings in ({"assistant_confidence_threshold": 0.9}, {})]
    assert counts[1] < counts[0]


COUNTED = "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16."


@proves(*everywhere("num_assistant_tokens", "max_ngram_size"), on="lookup", ways=["streamed"])
def test_longer_runs_from_the_prompt_make_longer_pieces(ask: Ask) -> None:
    counts = [len(ask("count", COUNTED, "count", **{ask.path: number}).events) for number in (1, 9)]
    assert counts[1] < counts[0]
