from specvino.engine.request import Image, PlacedImage
from specvino.handlers.media import place

RED, BLUE = Image(1, 1, b"\xff\0\0"), Image(1, 1, b"\0\0\xff")


def test_each_stands_on_a_line_of_its_own() -> None:
    assert place(["a", "b"]) == ("a\nb", ())
    assert place([RED, "what?"]) == ("\nwhat?", (PlacedImage(0, RED),))
    assert place(["what?", RED]) == ("what?\n", (PlacedImage(6, RED),))
    assert place([RED, BLUE]) == ("\n", (PlacedImage(0, RED), PlacedImage(1, BLUE)))
    assert place(["é", RED, "b", BLUE]) == ("é\n\nb\n", (PlacedImage(2, RED), PlacedImage(5, BLUE)))
    assert place([]) == ("", ())
