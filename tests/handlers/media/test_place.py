from specvino.handlers.media import ImageSource, PlacedSource, place

RED, BLUE = ImageSource("part.0", "data:,red", None), ImageSource("part.1", "data:,blue", "low")


def test_each_stands_on_a_line_of_its_own() -> None:
    assert place(["a", "b"]) == ("a\nb", ())
    assert place([RED, "what?"]) == ("\nwhat?", (PlacedSource(0, RED),))
    assert place(["what?", RED]) == ("what?\n", (PlacedSource(6, RED),))
    assert place([RED, BLUE]) == ("\n", (PlacedSource(0, RED), PlacedSource(1, BLUE)))
    assert place(["é", RED, "b", BLUE]) == ("é\n\nb\n", (PlacedSource(2, RED), PlacedSource(5, BLUE)))
    assert place([]) == ("", ())
