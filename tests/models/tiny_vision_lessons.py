"""What the tiny vision model is taught: to name the colours of one or two plain images, wherever they stand."""

import random
from dataclasses import dataclass

COLOURS = {
    "red": (220, 20, 20),
    "green": (20, 200, 20),
    "blue": (20, 20, 220),
    "yellow": (230, 220, 20),
    "white": (245, 245, 245),
    "black": (10, 10, 10),
}
NO_IMAGE = "No image."
# fmt: off
PADDING = (
    "the", "a", "my", "please", "what", "is", "are", "can", "you", "tell", "me", "about", "this", "these", "image",
    "images", "colour", "colours", "color", "picture", "describe", "name", "it", "in", "do", "see", "which", "and",
    "here", "look", "at", "of",
)
# fmt: on


@dataclass
class Lesson:
    """`messages` are pairs of a role and a content, in which <image> stands for the next of the images' `colours`."""

    messages: list[tuple[str, str]]
    colours: list[str]
    answer: str


def lesson(rng: random.Random) -> Lesson:
    """A random lesson: one in six is without an image, one in three has two, one in five an earlier exchange."""
    messages: list[tuple[str, str]] = []
    colours: list[str] = []
    if rng.random() < 0.2:
        messages.append(("system", _sentence(rng)))
    if rng.random() < 0.2:
        _, answer = _exchange(rng, messages, colours)
        messages.append(("assistant", answer))
    shown, answer = _exchange(rng, messages, colours)
    if not shown and colours:
        # Which images a question without any is about, nobody can say: let there be none before.
        return lesson(rng)
    return Lesson(messages, colours, answer)


def answer_to(colours: list[str]) -> str:
    """About the images of the last user message."""
    if not colours:
        return NO_IMAGE
    if len(colours) == 1:
        return f"The image is {colours[0]}."
    return f"The images are {' and '.join(colours)}."


def _exchange(rng: random.Random, messages: list[tuple[str, str]], colours: list[str]) -> tuple[list[str], str]:
    shown = [rng.choice(list(COLOURS)) for _ in range(rng.choice((0, 1, 1, 1, 2, 2)))]
    parts = ["<image>"] * len(shown)
    parts.insert(rng.randint(0, len(parts)), _sentence(rng))
    messages.append(("user", "\n".join(parts)))
    colours += shown
    return shown, answer_to(shown)


def _sentence(rng: random.Random) -> str:
    words = " ".join(rng.choice(PADDING) for _ in range(rng.randint(1, 9)))
    return words if rng.random() < 0.4 else words.capitalize() + rng.choice(("?", ".", ""))
