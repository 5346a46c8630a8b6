from hypothesis import given
from hypothesis import strategies as st

from specvino.engine.output_parsers.text_source import TextSource, free_length

MARKERS = st.lists(st.text("ab<", min_size=1, max_size=4), min_size=1, max_size=3)


@given(st.text("ab<🎉", max_size=12), MARKERS)
def test_no_more_is_held_back_than_could_begin_a_marker(text: str, markers: list[str]) -> None:
    """The definition: the longest tail that is the beginning of a marker, but not all of it."""
    tails = [at for at in range(len(text)) if any(m.startswith(text[at:]) and m != text[at:] for m in markers)]
    assert free_length(text, markers) == min(tails, default=len(text))


def test_a_read_waits_for_what_it_needs_and_no_longer() -> None:
    source = TextSource("<to")
    reading = source.one_of(("<tool>", "<other>"))
    assert next(reading) is None
    source.rest += "ol"
    assert next(reading) is None
    source.rest += "!"
    assert list(reading) == []
    assert source.at == 0


def test_a_bounded_read_gives_up_at_its_bound_wherever_the_text_is_cut() -> None:
    for length in range(8):
        text = "x" * length + "<end>"
        results = []
        for cut in range(len(text) + 1):
            source = TextSource(text[:cut])
            reading = source.until("<end>", longest=4)
            result = "waits"
            while result == "waits":
                try:
                    next(reading)
                    source.rest = text
                except StopIteration as stop:
                    result = stop.value
            results.append(result)
        assert set(results) == {"x" * length if length <= 4 else None}
