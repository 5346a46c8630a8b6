"""Logprobs and the likeliest tokens."""

import numpy
import pytest

from specvino.engine.openvino.full_logits.scores import likeliest, log_softmax, rank, those


def test_probabilities_sum_up_to_one_also_of_great_scores() -> None:
    logits = numpy.array([[0.0, 1.0, 2.0], [1e4, 1e4, -1e4]], numpy.float32)
    found = log_softmax(logits)
    assert numpy.exp(found).sum(axis=-1) == pytest.approx([1, 1])
    assert found[0] == pytest.approx([-2.407606, -1.407606, -0.407606], abs=1e-5)
    assert found[1][:2] == pytest.approx([-0.693147] * 2, abs=1e-5)


def test_the_likeliest_come_first_and_of_equals_the_lower_id() -> None:
    logprobs = numpy.array([-3, -1, -2, -1, -9, -2], numpy.float32)
    assert likeliest(logprobs, 3) == [(1, -1), (3, -1), (2, -2)]
    assert [id for id, _ in likeliest(logprobs, 99)] == [1, 3, 2, 5, 0, 4]
    assert likeliest(logprobs, 0) == []


def test_a_rank_counts_those_that_are_likelier() -> None:
    logprobs = numpy.array([-3, -1, -2, -1, -9, -2], numpy.float32)
    assert [rank(logprobs, id) for id in range(6)] == [5, 1, 3, 2, 6, 4]


def test_named_tokens_come_once_in_their_order() -> None:
    logprobs = numpy.array([-3, -1, -2], numpy.float32)
    assert those(logprobs, (2, 0, 2)) == [(2, -2), (0, -3)]
