"""The phases of a request, on a clock that is told the time."""

from specvino.engine.openvino.generation import RequestTimes
from specvino.engine.openvino.messages.worker import Output
from specvino.engine.segments import Phases


def test_each_phase_ends_where_the_next_begins() -> None:
    now = [100.0]
    times = RequestTimes(lambda: now[0])
    for time, output in (
        (104.0, Output(1, [5], begun=103.0)),
        (105.0, Output(2, [5], begun=104.5)),
        (110.0, Output(1, [6])),
    ):
        now[0] = time
        times.push([output])
    assert times.phases == Phases(queue=3.0, prefill=1.0, decode=6.0)


def test_of_what_never_began_nothing_is_known() -> None:
    times = RequestTimes(lambda: 1.0)
    times.push([Output(1, [], error="no")])
    assert times.phases is None
