"""What the tiny vision model is taught: to name the colours of one or two plain images, and to ask for the weather."""

import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

COLOURS = {
    "red": (220, 20, 20),
    "green": (20, 200, 20),
    "blue": (20, 20, 220),
    "yellow": (230, 220, 20),
    "white": (245, 245, 245),
    "black": (10, 10, 10),
}
NO_IMAGE = "No image."
CITIES = ("Paris", "Rome", "Berlin", "Tokyo", "San Francisco")
# fmt: off
PADDING = (
    "the", "a", "my", "please", "what", "what's", "is", "are", "can", "you", "tell", "me", "about", "this", "these",
    "image", "images", "colour", "colours", "color", "picture", "describe", "name", "it", "in", "do", "see", "which",
    "and", "here", "look", "at", "of", "like", "for", "now", "how",
)
DESCRIBING = (*PADDING, "get", "current", "weather", "time", "state")
# fmt: on

Message = dict[str, Any]


@dataclass
class Lesson:
    """`messages` and `tools` are those of the chat template; in contents, <image> stands for the next of `colours`."""

    messages: list[Message]
    colours: list[str]
    answer: str
    tools: list[dict[str, Any]] | None = None


def lesson(rng: random.Random) -> Lesson:
    """A random lesson: one in three is about the weather, the others are about images.

    Of these, one in six has no image, one in ten shows them as a function's result, one in five has tools that aren't
    to be called. One lesson in four has an earlier exchange, one in five a system message.
    """
    about_weather = rng.random() < 1 / 3
    tools = _tools(rng) if about_weather or rng.random() < 0.2 else None
    messages: list[Message] = []
    colours: list[str] = []
    if rng.random() < 0.2:
        messages.append({"role": "system", "content": _sentence(rng)})
    if rng.random() < 0.25:
        _earlier(rng, messages, colours, about_weather=tools is not None and rng.random() < 0.3)
    if about_weather:
        return Lesson(messages, colours, _weather(rng, messages), tools)
    shown, answer = _images(rng, messages)
    if not shown and colours:
        # Which images a question without any is about, nobody can say: let there be none before.
        return lesson(rng)
    return Lesson(messages, colours + shown, answer, tools)


def lessons_of_all_colours() -> list[Lesson]:
    """Every colour and every ordered pair, in three sentences, before, behind and after the first word of them."""
    lessons = []
    for colours in [*itertools.product(COLOURS), *itertools.product(COLOURS, repeat=2)]:
        for text in ("What colour is this?", "describe the picture", "Look at these images."):
            words = text.split()
            for places in itertools.combinations_with_replacement((0, 1, len(words)), len(colours)):
                for gap in ("\n", ""):
                    content = _placed(words, list(places), itertools.repeat(gap))
                    lessons.append(
                        Lesson([{"role": "user", "content": content}], list(colours), answer_to(list(colours)))
                    )
    return lessons


def answer_to(colours: list[str]) -> str:
    """About the images of the last user message."""
    if not colours:
        return NO_IMAGE
    if len(colours) == 1:
        return f"The image is {colours[0]}."
    return f"The images are {' and '.join(colours)}."


def _earlier(rng: random.Random, messages: list[Message], colours: list[str], *, about_weather: bool) -> None:
    """An exchange of which the last one is independent."""
    if about_weather:
        answer = _after_the_call(rng, messages, _city(rng, messages))
    else:
        shown, answer = _images(rng, messages)
        colours += shown
    messages.append({"role": "assistant", "content": answer})


def _images(rng: random.Random, messages: list[Message]) -> tuple[list[str], str]:
    """A message with up to two images anywhere in a sentence; the colours and the answer."""
    colours = [rng.choice(list(COLOURS)) for _ in range(rng.choice((0, 1, 1, 1, 2, 2)))]
    words = _sentence(rng).split()
    content = _placed(words, _places(rng, len(words), len(colours)), _gaps(rng))
    if colours and rng.random() < 0.1:
        call = {"function": {"name": "look", "arguments": {}}}
        if rng.random() < 0.7:
            messages.append({"role": "user", "content": _sentence(rng)})
            messages.append({"role": "assistant", "content": "", "tool_calls": [call]})
        messages.append({"role": "tool", "content": content})
    else:
        messages.append({"role": "user", "content": content})
    return colours, answer_to(colours)


def _places(rng: random.Random, words: int, images: int) -> list[int]:
    """Before how many words images stand: mostly before or behind all of them."""
    anywhere = rng.random() < 0.3
    return sorted(rng.randint(0, words) if anywhere else rng.choice((0, words)) for _ in range(images))


def _gaps(rng: random.Random) -> Iterator[str]:
    while True:
        yield rng.choice(("\n", "\n", "\n", " ", ""))


def _placed(words: list[str], places: list[int], gaps: Iterator[str]) -> str:
    parts: list[str] = []
    for start, end in itertools.pairwise([0, *places, len(words)]):
        parts += [" ".join(words[start:end]), "<image>"]
    first, *others = (part for part in parts[:-1] if part)
    return first + "".join(gap + part for part, gap in zip(others, gaps, strict=False))


def _weather(rng: random.Random, messages: list[Message]) -> str:
    """A question about the weather, and perhaps the function's result; the answer."""
    city = _city(rng, messages)
    if rng.random() < 0.3:
        return _after_the_call(rng, messages, city)
    return f'<tool_call>\n{{"name": "get_weather", "arguments": {{"location": "{city}"}}}}\n</tool_call>'


def _city(rng: random.Random, messages: list[Message]) -> str:
    """A question about the weather, with the city at its end; the city."""
    city = rng.choice(CITIES)
    words = _sentence(rng).rstrip("?.").split()
    words.insert(rng.randint(0, len(words)), "weather")
    messages.append({"role": "user", "content": " ".join([*words, city]) + rng.choice(("?", ".", ""))})
    return city


def _after_the_call(rng: random.Random, messages: list[Message], city: str) -> str:
    call = {"function": {"name": "get_weather", "arguments": {"location": city}}}
    messages.append({"role": "assistant", "content": "", "tool_calls": [call]})
    messages.append({"role": "tool", "content": rng.choice(["20C", "sunny", '{"temp": 20}'])})
    return f"It is sunny in {city}."


def _tools(rng: random.Random) -> list[dict[str, Any]]:
    def described() -> dict[str, Any]:
        words = [rng.choice(DESCRIBING) for _ in range(rng.randint(0, 8))]
        if rng.random() < 0.1:
            words += [rng.choice(("city", "location")), "e.g.", rng.choice(CITIES)]
        return {"description": " ".join(words)} if words else {}

    names = rng.choice((["get_weather"], ["get_weather"], ["get_weather", "get_time"], ["get_time", "get_weather"]))
    tools = []
    for name in names:
        properties = {"location": {"type": "string", **described()}}
        schema = {"type": "object", "properties": properties, "required": ["location"]}
        tools.append({"type": "function", "function": {"name": name, **described(), "parameters": schema}})
    return tools


def _sentence(rng: random.Random) -> str:
    words = " ".join(rng.choice(PADDING) for _ in range(rng.randint(1, 9)))
    return words if rng.random() < 0.4 else words.capitalize() + rng.choice(("?", ".", ""))
