import pytest

from specvino.engine.request import Image, Message, PlacedImage
from specvino.handlers.media import ImageSource, MessageDraft, PlacedSource, place

RED, BLUE = ImageSource("part.0", "data:,red", None), ImageSource("part.1", "data:,blue", "low")


def test_each_stands_on_a_line_of_its_own() -> None:
    assert place(["a", "b"]) == ("a\nb", ())
    assert place([RED, "what?"]) == ("\nwhat?", (PlacedSource(0, RED),))
    assert place(["what?", RED]) == ("what?\n", (PlacedSource(6, RED),))
    assert place([RED, BLUE]) == ("\n", (PlacedSource(0, RED), PlacedSource(1, BLUE)))
    assert place(["é", RED, "b", BLUE]) == ("é\n\nb\n", (PlacedSource(2, RED), PlacedSource(5, BLUE)))
    assert place([]) == ("", ())


def test_images_come_to_their_places() -> None:
    dots = [Image(1, 1, bytes([shade] * 3)) for shade in (0, 9)]
    draft = MessageDraft(Message("user", "a\n\n"), (PlacedSource(2, RED), PlacedSource(3, BLUE)))
    assert draft.with_images(dots).images == (PlacedImage(2, dots[0]), PlacedImage(3, dots[1]))
    with pytest.raises(ValueError, match="shorter"):
        draft.with_images(dots[:1])
    text = MessageDraft(Message("user", "a"))
    assert text.with_images([]) is text.message
