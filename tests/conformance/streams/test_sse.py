"""Events come out right, however the bytes are cut."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from specvino.conformance.streams.sse import Decoder, ServerSentEvent

TEXT = "\ufeffdata: a\n\n: a comment\nevent: x\r\ndata:b é 🎉\r\ndata:  c\r\n\r\nid: 1\n\ndata\r\rdata: unfinished\n"
EVENTS = [ServerSentEvent("a"), ServerSentEvent("b é 🎉\n c", "x"), ServerSentEvent("")]


@given(st.lists(st.integers(0, len(TEXT.encode())), max_size=10))
def test_every_cut(cuts) -> None:
    raw = TEXT.encode()
    places = [0, *sorted(cuts), len(raw)]
    decoder = Decoder()
    events = [event for a, b in itertools.pairwise(places) for event in decoder.feed(raw[a:b])]
    assert events == EVENTS
    assert decoder.incomplete


def test_a_whole_stream_is_complete() -> None:
    decoder = Decoder()
    assert list(decoder.feed(b"data: [DONE]\n\n")) == [ServerSentEvent("[DONE]")]
    assert not decoder.incomplete


def test_a_later_byte_order_mark_is_kept_in_the_data() -> None:
    sent = "\ufeffdata: a\n\n\ufeffdata: b\n\n\ufeffevent: c\ndata: d\n\n".encode()
    assert list(Decoder().feed(sent)) == [ServerSentEvent("a"), ServerSentEvent("\ufeffb"), ServerSentEvent("d")]
