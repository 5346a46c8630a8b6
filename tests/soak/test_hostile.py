"""Attacks have their turns, and what comes back to bare bytes is judged."""

import itertools
import json

import pytest

from soak.hostile import ATTACKS, ON_IMAGES
from soak.hostile.attacker import of_bytes, whole
from soak.hostile.run import Assault, order
from specvino.generated.errors import ErrorCode

LARGE = frozenset({ErrorCode.HEADERS_TOO_LARGE})


def assault(start: int, *, seeing: bool) -> Assault:
    return Assault("", ("", 0), "m", ("key",), [], seeing, "hostile", 1.0, 1, start, 1.0)


def answer(status: int, code: str) -> bytes:
    body = json.dumps({"error": {"message": "", "type": "", "param": None, "code": code}}).encode()
    return b"HTTP/1.1 %d X\r\ncontent-length: %d\r\n\r\n%b" % (status, len(body), body)


@pytest.mark.parametrize("seeing", [False, True])
def test_each_attack_has_its_turn_whenever_a_phase_begins(*, seeing: bool) -> None:
    attacks = set(ON_IMAGES if seeing else ATTACKS)
    for start in (0, 7, 1000):
        assert set(itertools.islice(order(assault(start, seeing=seeing)), len(attacks))) == attacks
    first = list(itertools.islice(order(assault(0, seeing=seeing)), len(attacks)))
    assert next(order(assault(7, seeing=seeing))) == first[7]


def test_the_expected_error_or_the_end_of_the_connection_is_right() -> None:
    assert of_bytes(answer(431, "headers_too_large"), LARGE).wrong == ()
    assert of_bytes(b"", LARGE).wrong == ()


@pytest.mark.parametrize(
    "wrong",
    [
        answer(400, "headers_too_large"),
        answer(400, "invalid_http"),
        answer(431, "nobody_knows"),
        b"HTTP/1.1 431 X\r\ncontent-length: 2\r\n\r\nno",
        b"HTTP/1.1 500 Internal Server Error\r\n\r\n",
        b"rubbish",
    ],
)
def test_everything_else_is_wrong(wrong: bytes) -> None:
    assert len(of_bytes(wrong, LARGE).wrong) == 1


def test_when_an_answer_is_whole() -> None:
    sent = answer(431, "headers_too_large")
    assert whole(sent)
    assert not whole(sent[:-1])
    assert not whole(b"HTTP/1.1 200 OK\r\n\r\n")
