"""Turns of clients, and of their requests."""

from random import Random

from specvino.engine.processes.turns import Turns


def taken(turns: Turns[str]) -> list[str]:
    return list(iter(turns.take, None))


def test_waiting_clients_take_turns() -> None:
    turns: Turns[str] = Turns(10)
    for item in ("a1", "a2", "a3", "b1", "b2", "c1"):
        assert turns.add(item[0], "", item) is None
    assert taken(turns) == ["a1", "b1", "c1", "a2", "b2", "a3"]


def test_who_asks_again_comes_behind_those_that_wait() -> None:
    turns: Turns[str] = Turns(10)
    turns.add("a", "", "a1")
    turns.add("a", "", "a2")
    turns.add("b", "", "b1")
    assert turns.take() == "a1"
    turns.add("a", "", "a3")
    assert taken(turns) == ["b1", "a2", "a3"]


def test_who_comes_while_another_is_served_is_next() -> None:
    turns: Turns[str] = Turns(10)
    for item in ("a1", "a2", "a3"):
        turns.add("a", "", item)
    assert turns.take() == "a1"
    turns.add("b", "", "b1")
    assert taken(turns) == ["b1", "a2", "a3"]


def test_no_room_is_left_by_the_client_that_has_most() -> None:
    turns: Turns[str] = Turns(3)
    for item in ("a1", "a2", "a3"):
        assert turns.add("a", "", item) is None
    assert turns.add("b", "", "b1") == "a3"
    assert turns.add("a", "", "a4") == "a4"
    assert taken(turns) == ["a1", "b1", "a2"]


def test_where_all_have_as_much_the_newcomer_finds_no_room() -> None:
    turns: Turns[str] = Turns(2)
    turns.add("a", "", "a1")
    turns.add("b", "", "b1")
    assert turns.add("c", "", "c1") == "c1"
    assert len(turns) == 2


def test_clearing_takes_all() -> None:
    turns: Turns[str] = Turns(3)
    turns.add("a", "", "a1")
    turns.add("b", "", "b1")
    assert turns.clear() == ["a1", "b1"]
    assert not len(turns)
    assert turns.take() is None


def test_requests_of_a_client_take_turns() -> None:
    turns: Turns[str] = Turns()
    for item in ("a1", "a2", "a3", "b1", "b2", "c1"):
        turns.add("client", item[0], item)
    assert taken(turns) == ["a1", "b1", "c1", "a2", "b2", "a3"]


def test_a_cheap_item_waits_for_none_of_many_expensive_ones() -> None:
    """Whenever it comes."""
    for served in range(16):
        turns: Turns[str] = Turns()
        for number in range(16):
            turns.add("client", f"large {number}", f"large {number}", 49)
        for number in range(served):
            assert turns.take() == f"large {number}"
        turns.add("client", "small", "small", 1)
        assert turns.take() == "small"


def test_an_expensive_item_does_not_wait_forever_for_cheap_ones() -> None:
    turns: Turns[str] = Turns()
    turns.add("client", "large", "large", 49)
    cheap = 0
    for number in range(1000):
        turns.add("client", f"small {number % 4}", "small", 1)
        if turns.take() == "large":
            break
        cheap += 1
    assert 49 <= cheap <= 49 * 5
    assert turns.take() == "small"


def test_a_request_gains_nothing_by_dividing_its_work() -> None:
    turns: Turns[str] = Turns()
    for _ in range(5):
        turns.add("client", "divided", "divided", 10)
    turns.add("client", "other", "other", 15)
    assert taken(turns) == ["divided", "other", "divided", "divided", "divided", "divided"]


def test_no_room_is_left_by_what_would_be_last() -> None:
    turns: Turns[str] = Turns(2)
    turns.add("client", "a", "large", 49)
    turns.add("client", "b", "small 1", 1)
    assert turns.add("client", "c", "small 2", 1) == "large"
    assert turns.add("client", "a", "middle", 2) == "middle"
    assert taken(turns) == ["small 1", "small 2"]


def test_all_that_wait_are_taken_in_any_order() -> None:
    """Also those that the clock has passed."""
    random = Random(1)
    turns: Turns[int] = Turns()
    taken: list[int | None] = []
    for number in range(2000):
        turns.add("client", f"{random.randrange(20)}", number, random.choice((1, 1, 1, 100)))
        if random.random() < 0.5:
            taken.append(turns.take())
    while len(turns):
        taken.append(turns.take())
    assert sorted(filter(None, taken)) == list(range(1, 2000))
