import threading
import time

from specvino.engine.processes.child import bounded


def test_computing_is_bounded() -> None:
    exceeded = threading.Event()
    with bounded(0.2, exceeded.set):
        begun = time.process_time()
        while not exceeded.is_set():
            pass
        assert time.process_time() - begun >= 0.1
    assert exceeded.is_set()


def test_waiting_is_no_computing() -> None:
    exceeded = threading.Event()
    with bounded(0.2, exceeded.set):
        exceeded.wait(0.5)
    assert not exceeded.is_set()


def test_what_is_done_is_not_bounded_any_more() -> None:
    exceeded = threading.Event()
    with bounded(0.3, exceeded.set):
        pass
    begun = time.process_time()
    while time.process_time() - begun < 1:
        pass
    assert not exceeded.is_set()
