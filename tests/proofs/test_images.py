"""Images, on a model that names their colours."""

import re
from typing import Any

import pytest
from models.tiny_vision_lessons import COLOURS
from PIL import Image
from support.images import data_url, file, saved

from proofs import proves
from proofs.asking import Ask

RED, BLUE = data_url(file("red")), data_url(file("blue", format="JPEG"), "image/jpeg")


def stripes() -> str:
    """Fine ones, which become one grey where the image is made smaller."""
    image = Image.new("RGB", (2048, 28), COLOURS["blue"])
    for x in range(0, 2048, 4):
        image.paste(COLOURS["yellow"], (x, 0, x + 2, 28))
    return data_url(saved(image))


def seen(ask: Ask, *parts: dict[str, Any]) -> list[str]:
    """The first colours that are named to a user's message of these images, or to such a function's result."""
    text = {"type": "text" if ask.endpoint == "chat" else "input_text", "text": "What colour is this?"}
    if ask.path.startswith("input[].output"):
        answer = ask(input=[{"type": "function_call_output", "call_id": "1", "output": [text, *parts]}])
    else:
        turn = [{"role": "user", "content": [*parts, text]}]
        answer = ask(**{"messages" if ask.endpoint == "chat" else "input": turn})
    return re.findall("|".join(COLOURS), answer.text)[: len(parts)]


def shown(ask: Ask, url: str, nested: bool = True, **settings: Any) -> dict[str, Any]:
    """A part with an image; the object around its URL or, without `nested`, the URL alone."""
    kind = "image_url" if ask.endpoint == "chat" else "input_image"
    return {"type": kind, "image_url": {"url": url, **settings} if nested else url, **({} if nested else settings)}


CHAT, INPUT, OUTPUT = "chat.messages[].content[]", "responses.input[].content[]", "responses.input[].output[]"


@proves(*(f"{part}.{name}" for part in (CHAT, INPUT, OUTPUT) for name in ("type", "image_url")), on="vision")
@pytest.mark.parametrize("nested", [False, True])
def test_the_model_sees_the_images(ask: Ask, nested: bool) -> None:
    assert seen(ask, shown(ask, RED, nested)) == ["red"]


@proves(*(f"{part}.{name}" for part in (CHAT, INPUT) for name in ("type", "image_url")), on="vision")
def test_the_model_sees_several_images(ask: Ask) -> None:
    assert seen(ask, shown(ask, RED), shown(ask, BLUE)) == ["red", "blue"]


@proves(*(f"{part}.image_url.url" for part in (CHAT, INPUT, OUTPUT)), on="vision")
def test_the_model_sees_the_image_of_the_url(ask: Ask) -> None:
    assert [seen(ask, shown(ask, url)) for url in (RED, BLUE)] == [["red"], ["blue"]]


@proves(*(f"{part}.image_url.detail" for part in (CHAT, INPUT, OUTPUT)), on="vision")
def test_little_detail_is_a_smaller_image(ask: Ask) -> None:
    assert seen(ask, shown(ask, stripes(), detail="low")) == ["white"]


@proves(f"{CHAT}.detail", on="vision")
def test_little_detail_of_a_part_named_as_in_responses_is_a_smaller_image(ask: Ask) -> None:
    assert seen(ask, {"type": "input_image", "image_url": stripes(), "detail": "low"}) == ["white"]


@proves(f"{INPUT}.detail", f"{OUTPUT}.detail", on="vision")
def test_little_detail_of_a_part_is_a_smaller_image(ask: Ask) -> None:
    assert seen(ask, shown(ask, stripes(), nested=False, detail="low")) == ["white"]
