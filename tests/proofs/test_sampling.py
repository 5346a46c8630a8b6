"""How tokens are drawn."""

from typing import Any

import pytest

from proofs import everywhere, proves
from proofs.asking import Ask

COUNTED = "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16."

# The tiny model is sure of its answer alone, not of what it would say next.
QUESTION = "zzz"


@proves(*everywhere("temperature"))
def test_the_likeliest_tokens_are_the_same_whatever_the_seed(ask: Ask) -> None:
    first, second = (ask(QUESTION, ignore_eos=True, temperature=0, seed=seed, **{ask.limit: 60}) for seed in (1, 2))
    assert first.text == second.text


@proves(*everywhere("temperature"))
def test_a_high_temperature_draws_what_is_unlikely(ask: Ask) -> None:
    assert ask("count", temperature=2, seed=1).text != COUNTED


@proves(*everywhere("top_p", "top_k", "min_p"))
def test_few_candidates_leave_the_likeliest(ask: Ask) -> None:
    value = {"top_p": 0.1, "top_k": 1, "min_p": 0.9}[ask.path]
    assert ask("count", temperature=2, seed=1, **{ask.path: value}).text == COUNTED


@proves(*everywhere("seed"))
def test_a_seed_repeats_an_answer(ask: Ask) -> None:
    first, second = (ask(QUESTION, temperature=2, seed=7, ignore_eos=True, **{ask.limit: 60}) for _ in range(2))
    assert first.text == second.text


@proves(*everywhere("frequency_penalty", "presence_penalty", "repetition_penalty"))
def test_a_penalty_avoids_what_was_said(ask: Ask) -> None:
    lines = ask(QUESTION, ignore_eos=True, **{ask.path: 2, ask.limit: 60}).text.splitlines()
    assert len(lines) == len(set(lines))


@proves("chat.n", "completions.n")
@pytest.mark.parametrize("settings", [{"temperature": 0}, {"temperature": 2, "seed": 1}, {"best_of": 3}])
def test_so_many_choices(ask: Ask, settings: dict[str, Any]) -> None:
    answer = ask("hello", n=3, **settings)
    assert [choice["index"] for choice in answer.choices] == [0, 1, 2]
    assert len(set(answer.texts)) == (1 if settings == {"temperature": 0} else 3)


@proves("responses.n")
@pytest.mark.parametrize("settings", [{"temperature": 0}, {"temperature": 2, "seed": 1}, {"best_of": 3}])
def test_so_many_messages_in_one_output(ask: Ask, settings: dict[str, Any]) -> None:
    answer = ask("hello", n=3, **settings)
    texts = [message["content"][0]["text"] for message in answer.items("message")]
    assert len(texts) == 3
    assert len(set(texts)) == (1 if settings == {"temperature": 0} else 3)


@proves(*everywhere("best_of"))
def test_a_search_finds_a_likelier_text_than_the_likeliest_tokens_make(ask: Ask) -> None:
    assert (ask("yes no").text, ask("yes no", best_of=4).text) == ("yes", "I am a tiny test model.")


@proves(*everywhere("length_penalty"))
def test_a_search_prefers_short_or_long_texts(ask: Ask) -> None:
    short, long = (ask("who", best_of=4, length_penalty=penalty, **{ask.limit: 40}).tokens for penalty in (-20, 20))
    assert short < long
