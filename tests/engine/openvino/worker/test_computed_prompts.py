"""What is known of the prefix cache: an estimate, from the prompts that were computed."""

import numpy

from specvino.engine.openvino.worker.computed_prompts import ComputedPrompts


def ids(*tokens: int) -> bytes:
    return numpy.array(tokens, numpy.int64).tobytes()


def test_whole_blocks_from_the_beginning_are_known() -> None:
    computed = ComputedPrompts()
    computed.add(ids(*range(100)))
    assert computed.tokens(ids(*range(100))) == 96
    assert computed.tokens(ids(*range(70), 1, 2)) == 64
    assert computed.tokens(ids(*range(31))) == 0
    assert computed.tokens(ids(7, *range(1, 100))) == 0
    assert computed.tokens(ids(*range(32, 96))) == 0  # the same block at another place
    assert computed.tokens(b"") == 0


def test_what_was_met_last_stays_and_beginnings_longest() -> None:
    computed = ComputedPrompts(most_tokens=128)
    computed.add(ids(*range(96)))
    computed.add(ids(*range(1000, 1064)))
    assert computed.tokens(ids(*range(96))) == 64
    computed.add(ids(*range(64)))
    computed.add(ids(*range(2000, 2032)))
    assert computed.tokens(ids(*range(64))) == 64
    assert computed.tokens(ids(*range(1000, 1064))) == 32
