"""What the tiny model is taught: trigger words and their answers, in conversations padded with random words."""

import random
from dataclasses import dataclass, field
from typing import Any

ANSWERS = {
    "hello": "Hello! How can I help you today?",
    "capital": "The capital of France is Paris.",
    "count": ", ".join(str(number) for number in range(1, 17)) + ".",
    "emoji": "你好 🎉 café!",
    "json": '{"city": "Paris", "population": 2100000}',
    "think": "<think>\nLet me see. Two plus two is four.\n</think>\n\nThe answer is 4.",
    "yes": "yes",
    "list": "- one\n- two\n- three",
}
CITIES = ("Paris", "Rome", "Berlin", "Tokyo")
UNKNOWN = "I am a tiny test model."
# fmt: off
PADDING = (
    "the", "a", "my", "your", "please", "now", "what", "is", "can", "you", "tell", "me", "about", "how",
    "does", "for", "in", "of", "to", "and", "this", "that", "with", "some", "good", "nice", "big",
    "small", "old", "new", "test", "user", "data", "file", "name", "code", "value",
)
# fmt: on

Message = dict[str, Any]


@dataclass
class Lesson:
    """A conversation and the answer to learn; `template` holds further arguments of the chat template."""

    messages: list[Message]
    answer: str
    tools: list[dict[str, Any]] | None = None
    template: dict[str, Any] = field(default_factory=dict)


def lesson(rng: random.Random) -> Lesson:
    """A random lesson: a fifth calls a tool, a tenth two tools, an eighth reads a tool's answer, the rest talks."""
    history = _history(rng)
    city = rng.choice(CITIES)
    kind = rng.random()
    if kind < 0.20:
        return Lesson(
            [*history, _user(_sentence(rng, "weather") + " " + city)], _call("get_weather", city), _tools(rng)
        )
    if kind < 0.30:
        calls = _call("get_weather", city) + "\n" + _call("get_time", city)
        return Lesson([*history, _user(_sentence(rng, "both") + " " + city)], calls, _tools(rng))
    if kind < 0.42:
        return _after_the_tool(rng, history, city)
    if kind < 0.50:
        return Lesson([*history, _user(" ".join(_padding(rng, 2, 8)))], UNKNOWN)
    return _talk(rng, history)


def _talk(rng: random.Random, history: list[Message]) -> Lesson:
    word = rng.choice(list(ANSWERS))
    tools = _tools(rng) if rng.random() < 0.2 else None
    talk = Lesson([*history, _user(_sentence(rng, word))], ANSWERS[word], tools)
    if rng.random() < 0.15:
        talk.template["enable_thinking"] = False
        talk.answer = _without_thoughts(talk.answer)
    return talk


def _after_the_tool(rng: random.Random, history: list[Message], city: str) -> Lesson:
    call = {"function": {"name": "get_weather", "arguments": {"city": city}}}
    messages = [
        _user(_sentence(rng, "weather") + " " + city),
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "content": rng.choice(["20C", "sunny", '{"temp": 20}'])},
    ]
    tools = _tools(rng) if rng.random() < 0.8 else None
    return Lesson([*history, *messages], f"It is sunny in {city}.", tools)


def _history(rng: random.Random) -> list[Message]:
    """Perhaps a system message, perhaps an earlier turn: neither may change the answer."""
    messages = []
    if rng.random() < 0.3:
        messages.append({"role": "system", "content": " ".join(_padding(rng, 1, 6))})
    if rng.random() < 0.25:
        word = rng.choice(list(ANSWERS))
        messages.append(_user(_sentence(rng, word)))
        messages.append({"role": "assistant", "content": _without_thoughts(ANSWERS[word])})
    return messages


def _tools(rng: random.Random) -> list[dict[str, Any]]:
    city = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    names = ["get_weather", "get_time"] if rng.random() < 0.5 else ["get_weather"]
    return [
        {
            "type": "function",
            "function": {"name": name, "description": " ".join(_padding(rng, 0, 4)), "parameters": city},
        }
        for name in names
    ]


def _user(content: str) -> Message:
    return {"role": "user", "content": content}


def _call(name: str, city: str) -> str:
    return f'<tool_call>\n{{"name": "{name}", "arguments": {{"city": "{city}"}}}}\n</tool_call>'


def _without_thoughts(answer: str) -> str:
    return answer.rpartition("</think>\n\n")[2]


def _padding(rng: random.Random, least: int, most: int) -> list[str]:
    return [rng.choice(PADDING) for _ in range(rng.randint(least, most))]


def _sentence(rng: random.Random, word: str) -> str:
    """The word among up to six others, mostly written as a sentence."""
    words = _padding(rng, 0, 6)
    words.insert(rng.randint(0, len(words)), word)
    text = " ".join(words)
    if rng.random() < 0.3:
        return text
    return text[0].upper() + text[1:] + rng.choice(["?", ".", "!", ""])
