"""The table of what is compared with the sources of each system."""

from specvino.document.loading import systems
from structure import ANEW
from structure.compared import PAGE, counted, drawn


def test_the_table_is_that_of_the_descriptions() -> None:
    text = PAGE.read_text("utf-8")
    assert drawn(text) == text, ANEW
    assert all(f"\n| {system} | " in text for system in systems())


def test_what_no_reader_reads_is_counted() -> None:
    """Of llama.cpp, only a table of fields of completions has types."""
    numbers = counted("llama-cpp")
    assert numbers[True, "values"] > 30
    assert numbers[False, "values"] == 0
    assert numbers[False, "names"] > 100
