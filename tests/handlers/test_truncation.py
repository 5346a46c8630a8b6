"""Which turns go first."""

from specvino.engine.request import Message, Role
from specvino.handlers.truncation import shortened

ROLES: dict[str, Role] = {"s": "system", "d": "developer", "u": "user", "a": "assistant", "t": "tool"}


def left(conversation, excess):
    """Messages of size 1, given and returned as letters with the number of their place."""
    messages = [Message(ROLES[letter], str(index)) for index, letter in enumerate(conversation)]
    kept = shortened(messages, [1] * len(messages), excess)
    return kept if kept is None else " ".join(conversation[int(m.content)] + m.content for m in kept)


def test_the_oldest_turns_go_whole() -> None:
    assert left("suauau", 1) == "s0 u3 a4 u5"
    assert left("suauau", 2) == "s0 u3 a4 u5"
    assert left("suauau", 3) == "s0 u5"
    assert left("suauau", 99) == "s0 u5"


def test_system_messages_stay_wherever_they_are() -> None:
    assert left("sudau", 99) == "s0 d2 u4"


def test_results_go_with_their_calls() -> None:
    assert left("uatau", 1) == "u4"
    assert left("uatat", 1) == "u0 a3 t4"
    assert left("uatatat", 3) == "u0 a5 t6"
    assert left("auatt", 99) == "u1 a2 t3 t4"


def test_what_must_stay() -> None:
    assert left("u", 1) is None
    assert left("su", 1) is None
    assert left("uat", 1) is None
    assert left("s", 1) is None
