from specvino.engine.processes.turns import Turns


def taken(turns: Turns[str]) -> list[str]:
    return list(iter(turns.take, None))


def test_clients_take_turns() -> None:
    turns: Turns[str] = Turns(10)
    for item in ("a1", "a2", "a3", "b1", "b2", "c1"):
        assert turns.add(item[0], item) is None
    assert taken(turns) == ["a1", "b1", "c1", "a2", "b2", "a3"]


def test_who_asks_again_comes_behind_those_that_wait() -> None:
    turns: Turns[str] = Turns(10)
    turns.add("a", "a1")
    turns.add("a", "a2")
    turns.add("b", "b1")
    assert turns.take() == "a1"
    turns.add("a", "a3")
    assert taken(turns) == ["b1", "a2", "a3"]


def test_who_comes_while_another_is_served_is_next() -> None:
    turns: Turns[str] = Turns(10)
    for item in ("a1", "a2", "a3"):
        turns.add("a", item)
    assert turns.take() == "a1"
    turns.add("b", "b1")
    assert taken(turns) == ["b1", "a2", "a3"]


def test_no_room_is_left_by_the_client_that_has_most() -> None:
    turns: Turns[str] = Turns(3)
    for item in ("a1", "a2", "a3"):
        assert turns.add("a", item) is None
    assert turns.add("b", "b1") == "a3"
    assert turns.add("a", "a4") == "a4"
    assert taken(turns) == ["a1", "b1", "a2"]


def test_where_all_have_as_much_the_newcomer_finds_no_room() -> None:
    turns: Turns[str] = Turns(2)
    turns.add("a", "a1")
    turns.add("b", "b1")
    assert turns.add("c", "c1") == "c1"
    assert len(turns) == 2


def test_clearing_takes_all() -> None:
    turns: Turns[str] = Turns(3)
    turns.add("a", "a1")
    turns.add("b", "b1")
    assert turns.clear() == ["a1", "b1"]
    assert not len(turns)
    assert turns.take() is None
