"""Whose turn it is, counted in places: no pipeline and no clock."""

from typing import Any

from support import worker_requests

from specvino.engine.openvino.native.fair_queue import FairQueue


def add(queue: FairQueue, first: int, count: int, request: int, **settings: Any) -> None:
    message = worker_requests.generate(first, bytes(8), 9, request=request, copies=count, **settings)
    for sequence in message.split():
        queue.add(sequence)


def begin(queue: FairQueue) -> list[int]:
    """Lets begin all who may; returns the requests in their order."""
    began = []
    while sequence := queue.next():
        queue.begin(sequence)
        began.append(sequence.request)
    return began


def test_a_big_request_leaves_places_for_those_who_come() -> None:
    queue = FairQueue(64)
    add(queue, 0, 2048, request=1)
    assert len(begin(queue)) == 48
    for number in range(16):
        add(queue, 5000 + number, 1, request=100 + number)
    assert begin(queue) == list(range(100, 116))


def test_small_requests_have_all_places_and_their_order() -> None:
    queue = FairQueue(64)
    for id in range(100):
        add(queue, id, 1, request=id)
    assert begin(queue) == list(range(64))
    assert len(queue) == 36


def test_two_big_requests_share_alike() -> None:
    queue = FairQueue(64)
    add(queue, 0, 500, request=1)
    add(queue, 500, 500, request=2)
    began = begin(queue)
    assert (began.count(1), began.count(2)) == (28, 27)


def test_whoever_holds_less_is_next() -> None:
    queue = FairQueue(4)
    add(queue, 0, 10, request=1)
    begin(queue)
    add(queue, 20, 1, request=2)
    assert begin(queue) == [2]
    add(queue, 30, 1, request=3)
    assert begin(queue) == []
    one = worker_requests.generate(0, bytes(8), 9, request=1)
    queue.end(one)
    assert begin(queue) == [3]


def test_a_key_leaves_places_however_many_requests_it_has() -> None:
    queue = FairQueue(64)
    for id in range(100):
        add(queue, id, 1, request=id, owner="busy")
    assert len(begin(queue)) == 48
    add(queue, 200, 1, request=200, owner="other")
    assert begin(queue) == [200]


def test_a_wide_search_runs_alone_and_is_overtaken_by_a_few() -> None:
    queue = FairQueue(4)
    add(queue, 0, 1, request=1)
    begin(queue)
    add(queue, 1, 1, request=2, best_of=9)
    for number in range(20):
        add(queue, 2 + number, 1, request=3 + number)
        if not begin(queue):
            break
        queue.end(worker_requests.generate(2 + number, bytes(8), 9, request=3 + number))
    assert number == 16
    queue.end(worker_requests.generate(0, bytes(8), 9, request=1))
    assert begin(queue) == [2]


def test_a_search_that_was_overtaken_often_is_next_whatever_other_keys_hold() -> None:
    queue = FairQueue(4)
    add(queue, 0, 1, request=1, owner="busy")
    begin(queue)
    add(queue, 1, 1, request=2, best_of=4, owner="busy")
    for number in range(20):
        add(queue, 2 + number, 1, request=3 + number, owner=f"other {number}")
        if not begin(queue):
            break
        queue.end(worker_requests.generate(2 + number, bytes(8), 9, request=3 + number, owner=f"other {number}"))
    assert number == 16
    add(queue, 90, 1, request=90, priority=-1)
    assert begin(queue) == [90]


def test_wide_searches_run_one_at_a_time_and_others_beside_them() -> None:
    queue = FairQueue(64)
    for request in range(8):
        add(queue, request, 1, request=request, best_of=20)
    assert begin(queue) == [0]
    add(queue, 8, 1, request=8, best_of=5)
    add(queue, 9, 1, request=9, best_of=4)
    for request in range(10, 40):  # more than may overtake a search that waits for slots
        add(queue, request, 1, request=request)
        begin(queue)
    assert len(queue) == 8  # 7 wide searches, and the one of 5 beams
    queue.end(worker_requests.generate(0, bytes(8), 9, request=0, best_of=20))
    assert begin(queue) == [1]


def test_narrow_searches_overtake_a_wide_one_a_few_times() -> None:
    queue = FairQueue(64)
    running = 0
    add(queue, 0, 1, request=0, best_of=6)
    begin(queue)
    add(queue, 1, 1, request=1, best_of=20)
    for number in range(2, 40):
        add(queue, number, 1, request=number, best_of=6)
        add(queue, 100 + number, 1, request=100 + number)
        began = begin(queue)
        assert began.pop() == 100 + number  # not held up
        if not began:
            break
        queue.end(worker_requests.generate(running, bytes(8), 9, request=running, best_of=6))
        queue.end(worker_requests.generate(100 + number, bytes(8), 9, request=100 + number))
        running = number
    assert number == 18
    queue.end(worker_requests.generate(running, bytes(8), 9, request=running, best_of=6))
    assert begin(queue) == [1]


def test_who_passes_lets_others_begin() -> None:
    queue = FairQueue(4)
    add(queue, 0, 2, request=1)
    add(queue, 2, 1, request=2)
    first = queue.next()
    assert first is not None
    second = queue.next({first.request})
    assert second is not None
    assert second.request == 2


def test_dropping_and_refusing_leave_nothing() -> None:
    queue = FairQueue(4)
    add(queue, 0, 3, request=1)
    queue.drop(1)
    queue.drop(99)
    first = queue.next()
    assert first is not None
    queue.refuse(first)
    assert len(queue) == 1
    queue.drop(2)
    assert (len(queue), queue.next()) == (0, None)


def test_the_lowest_priority_is_next() -> None:
    queue = FairQueue(2)
    for request, priority in ((1, 0), (2, 5), (3, -1), (4, 0)):
        add(queue, request, 1, request=request, priority=priority)
    assert begin(queue) == [3, 1]
    queue.end(worker_requests.generate(0, bytes(8), 9, request=3))
    assert begin(queue) == [4]
    queue.end(worker_requests.generate(0, bytes(8), 9, request=1))
    assert begin(queue) == [2]
