"""Tokens are drawn by the probabilities that the settings' formulas give, and chosen by them."""

import math
from collections import Counter
from typing import Any

import numpy
import pytest
from support.conversation import ask

from specvino.engine.openvino.full_logits.sampler import Sampler, log_softmax, most_likely, named, rank

LOGITS = numpy.array([2.0, 1.5, 1.0, 0.5, 0.0, -0.5, -1.0, -3.0], numpy.float32)
DRAWS = 20_000

# A right sampler stays below this for any of the fixed seeds but one in a million: the quantiles of chi-square by its
# degrees of freedom (scipy.stats.chi2.ppf(1 - 1e-6, df)).
CHI_SQUARE = {1: 23.9, 7: 40.5}


def sampler(
    prompt: tuple[int, ...] = (),
    ends: tuple[int, ...] = (),
    seed: int = 7,
    bad_word_runs: tuple[tuple[int, ...], ...] = (),
    **sampling: Any,
) -> Sampler:
    settings = ask("x", **sampling).sampling
    return Sampler(settings, seed, numpy.array(prompt, numpy.int64), frozenset(ends), bad_word_runs)


def softmax(values: list[float]) -> list[float]:
    powers = [math.exp(value) for value in values]
    return [power / sum(powers) for power in powers]


PLAIN = softmax(LOGITS.tolist())
COOL = softmax([value / 0.5 for value in LOGITS.tolist()])


@pytest.mark.parametrize(
    ("sampling", "expected"),
    [
        ({"temperature": 1}, PLAIN),
        ({"temperature": 0.5}, COOL),
        ({"temperature": 1, "top_k": 3}, PLAIN[:3]),
        # 0.399 + 0.242 + 0.147 < 0.8 <= … + 0.089
        ({"temperature": 1, "top_p": 0.8}, PLAIN[:4]),
        # Of the two most likely the first has 0.62, of all tokens 0.4.
        ({"temperature": 1, "top_p": 0.6, "top_k": 2}, PLAIN[:1]),
        ({"temperature": 1, "top_p": 0.7, "top_k": 2}, PLAIN[:2]),
        # At least a quarter of the most likely's: e^-1 is, e^-1.5 isn't.
        ({"temperature": 1, "min_p": 0.25}, PLAIN[:3]),
        ({"temperature": 1, "logit_bias": ((7, 5.0), (0, -100.0))}, softmax([-98, *LOGITS[1:7].tolist(), 2.0])),
        ({"temperature": 1, "allowed_token_ids": (0, 1, 2)}, PLAIN[:3]),
        ({"temperature": 1, "bad_words_token_ids": (3, 4, 5, 6, 7)}, PLAIN[:3]),
    ],
)
def test_tokens_are_as_likely_as_the_formula_says(sampling: dict[str, Any], expected: list[float]) -> None:
    drawing = sampler(**sampling)
    weights = drawing.probabilities(drawing.adjusted(LOGITS))
    wanted = numpy.zeros(len(LOGITS))
    wanted[: len(expected)] = expected
    assert weights / weights.sum() == pytest.approx(wanted / wanted.sum(), rel=1e-6, abs=1e-12)


@pytest.mark.parametrize(
    ("sampling", "expected"), [({"temperature": 1}, PLAIN), ({"temperature": 1, "top_p": 0.7, "top_k": 2}, PLAIN[:2])]
)
def test_draws_of_many_seeds_are_as_likely(sampling: dict[str, Any], expected: list[float]) -> None:
    counts = Counter(sampler(seed=seed, **sampling).choose(LOGITS) for seed in range(DRAWS))
    assert counts.keys() <= set(range(len(expected)))
    likely = [p / sum(expected) for p in expected]
    chi_square = sum((counts[id] - DRAWS * p) ** 2 / (DRAWS * p) for id, p in enumerate(likely))
    assert chi_square < CHI_SQUARE[len(likely) - 1]


def test_one_sampler_draws_as_well_as_many() -> None:
    one = sampler(temperature=1)
    counts = Counter(one.choose(LOGITS) for _ in range(DRAWS))
    chi_square = sum((counts[id] - DRAWS * p) ** 2 / (DRAWS * p) for id, p in enumerate(PLAIN))
    assert chi_square < CHI_SQUARE[7]


def test_a_seed_draws_the_same_again() -> None:
    first, again = (sampler(temperature=1, seed=3) for _ in range(2))
    other = sampler(temperature=1, seed=4)
    drawn = [[sampler.choose(LOGITS) for _ in range(20)] for sampler in (first, again, other)]
    assert drawn[0] == drawn[1] != drawn[2]


@pytest.mark.parametrize("sampling", [{"temperature": 0}, {"temperature": 1, "top_p": 0}, {"temperature": 1e-9}])
def test_the_likeliest_is_chosen(sampling: dict[str, Any]) -> None:
    assert sampler(**sampling).choose(LOGITS) == 0


def test_bias() -> None:
    assert sampler(logit_bias=((5, 2.6),)).choose(LOGITS) == 5
    assert sampler(logit_bias=((5, 2.4),)).choose(LOGITS) == 0
    assert sampler(logit_bias=((0, -100.0), (1, -100.0))).choose(LOGITS) == 2


def test_presence_and_frequency_count_what_was_made_alone() -> None:
    presence = sampler(prompt=(0,), presence_penalty=0.7)
    assert [presence.choose(LOGITS) for _ in range(4)] == [0, 1, 0, 0]
    frequency = sampler(prompt=(0,), frequency_penalty=0.4)
    assert [frequency.choose(LOGITS) for _ in range(5)] == [0, 0, 1, 0, 1]


def test_repetition_counts_the_prompt_too() -> None:
    assert sampler(prompt=(0,), repetition_penalty=1.5).choose(LOGITS) == 1
    negative = numpy.array([-1.0, -1.5], numpy.float32)
    assert sampler(prompt=(0,), repetition_penalty=2).choose(negative) == 1


def test_nothing_ends_before_its_least_length() -> None:
    one = sampler(ends=(0,), min_tokens=2)
    assert [one.choose(LOGITS) for _ in range(3)] == [1, 1, 0]


def test_only_what_is_allowed_and_not_bad_is_chosen() -> None:
    assert sampler(allowed_token_ids=(6, 4)).choose(LOGITS) == 4
    assert sampler(bad_words_token_ids=(0, 2)).choose(LOGITS) == 1
    assert sampler(allowed_token_ids=(4, 6), bad_words_token_ids=(4,)).choose(LOGITS) == 6
    assert sampler(allowed_token_ids=(4, 6), ends=(4,), min_tokens=1).choose(LOGITS) == 6
    assert sampler(allowed_token_ids=(6,), logit_bias=((4, 100.0),)).choose(LOGITS) == 6


def test_of_bad_runs_the_last_token_is_barred_behind_the_others() -> None:
    one = sampler(bad_word_runs=((0, 0), (1, 0, 1), (2,)))
    assert [one.choose(LOGITS) for _ in range(6)] == [0, 1, 0, 3, 0, 1]
    prompted = sampler(prompt=(0,), bad_word_runs=((0, 0),))  # what the prompt has is none of the text
    assert [prompted.choose(LOGITS) for _ in range(3)] == [0, 1, 0]


@pytest.mark.parametrize("temperature", [0, 1])
def test_where_no_token_may_be_drawn_none_is(temperature: float) -> None:
    assert sampler(temperature=temperature, allowed_token_ids=(1,), bad_words_token_ids=(1,)).choose(LOGITS) is None


def test_a_great_vocabulary() -> None:
    """Only the most likely are sorted, and all of them where these aren't enough."""
    flat = numpy.zeros(5000)
    flat[4000] = 1
    kept = numpy.flatnonzero(sampler(temperature=1, top_p=0.5).probabilities(flat))
    assert len(kept) == pytest.approx(2500, abs=2)
    assert 4000 in kept
    assert len(numpy.flatnonzero(sampler(temperature=1, top_k=2000).probabilities(flat))) == 2000
    assert len(numpy.flatnonzero(sampler(temperature=1, top_k=20).probabilities(flat))) == 20
    assert len(numpy.flatnonzero(sampler(temperature=1).probabilities(flat))) == 5000
    assert list(numpy.flatnonzero(sampler(temperature=1, min_p=0.9).probabilities(flat))) == [4000]


def test_probabilities_sum_up_to_one_also_of_great_scores() -> None:
    logits = numpy.array([[0.0, 1.0, 2.0], [1e4, 1e4, -1e4]], numpy.float32)
    scores = log_softmax(logits)
    assert numpy.exp(scores).sum(axis=-1) == pytest.approx([1, 1])
    assert scores[0] == pytest.approx([-2.407606, -1.407606, -0.407606], abs=1e-5)
    assert scores[1][:2] == pytest.approx([-0.693147] * 2, abs=1e-5)


def test_the_likeliest_come_first_and_of_equals_the_lower_id() -> None:
    logprobs = numpy.array([-3, -1, -2, -1, -9, -2], numpy.float32)
    assert most_likely(logprobs, 3) == [(1, -1), (3, -1), (2, -2)]
    assert [id for id, _ in most_likely(logprobs, 99)] == [1, 3, 2, 5, 0, 4]
    assert most_likely(logprobs, 0) == []


def test_a_rank_counts_those_that_are_likelier() -> None:
    logprobs = numpy.array([-3, -1, -2, -1, -9, -2], numpy.float32)
    assert [rank(logprobs, id) for id in range(6)] == [5, 1, 3, 2, 6, 4]


def test_named_tokens_come_once_in_their_order() -> None:
    logprobs = numpy.array([-3, -1, -2], numpy.float32)
    assert named(logprobs, (2, 0, 2)) == [(2, -2), (0, -3)]
