"""Honest clients: what they ask, and what is right of the answers beside what the rules for all answers say."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from random import Random
from typing import Any

import jsonschema_rs
from support.images import data_url, file

from soak.caller import Caller, Unanswered
from specvino.conformance.http.exchange import Exchange

# Seconds that a client thinks before it asks again, at the most.
_THINKING = 0.4

CITY = {
    "type": "object",
    "properties": {
        "city": {"enum": ["Paris", "Rome", "Oslo"]},
        "size": {"type": "integer", "minimum": 1, "maximum": 9},
    },
    "required": ["city", "size"],
    "additionalProperties": False,
}
_FORMAT = {"type": "json_schema", "json_schema": {"name": "city", "schema": CITY, "strict": True}}
_TOOL = {"type": "function", "function": {"name": "look_up", "parameters": CITY}}
_USAGE = {"include_usage": True}
_TOKENS = 12

Kind = Callable[[Caller, Random], Awaitable[None]]


class Wrong(Exception):
    """An answer is not right."""


def _conversation(random: Random, **fields: Any) -> dict[str, Any]:
    content = f"Number {random.randrange(10_000)}: tell me a short story."
    return {"messages": [{"role": "user", "content": content}], "max_tokens": _TOKENS, **fields}


async def _chat(caller: Caller, random: Random) -> None:
    exchange = await caller.answered("chat", "chat", _conversation(random, ignore_eos=True))
    _is_full(exchange, 1)


async def _chat_stream(caller: Caller, random: Random) -> None:
    body = _conversation(random, ignore_eos=True, stream=True, stream_options=_USAGE)
    _is_full(await caller.answered("chat stream", "chat", body), 1)


async def _choices(caller: Caller, random: Random) -> None:
    body = _conversation(random, ignore_eos=True, n=3, temperature=1.0, seed=random.randrange(1000))
    _is_full(await caller.answered("choices", "chat", body), 3)


async def _completion(caller: Caller, random: Random) -> None:
    prompts = [f"{random.randrange(1000)} green bottles", "Once upon a time"]
    body = {"prompt": prompts, "max_tokens": _TOKENS, "ignore_eos": True, "echo": True}
    exchange = await caller.answered("completion", "completions", body)
    _is_full(exchange, 2)
    texts = [choice["text"] for choice in exchange.answer["choices"]]
    _require(all(text.startswith(prompt) for text, prompt in zip(texts, prompts, strict=True)), texts)


async def _schema(caller: Caller, random: Random) -> None:
    body = _conversation(random, response_format=_FORMAT, stream=random.random() < 0.5) | {"max_tokens": 60}
    exchange = await caller.answered("schema", "chat", body)
    choice = exchange.answer["choices"][0]
    _require(choice["finish_reason"] == "stop", choice)
    _fits(choice["message"]["content"])


async def _call(caller: Caller, random: Random) -> None:
    forced = {"type": "function", "function": {"name": "look_up"}}
    body = _conversation(random, tools=[_TOOL], tool_choice=forced, stream=random.random() < 0.5) | {"max_tokens": 80}
    exchange = await caller.answered("call", "chat", body)
    calls = exchange.answer["choices"][0]["message"]["tool_calls"]
    _require([call["function"]["name"] for call in calls] == ["look_up"], calls)
    _fits(calls[0]["function"]["arguments"])


async def _biased(caller: Caller, random: Random) -> None:
    """By the full-logits process, which reads the prompt itself. Token 0 is never chosen."""
    body = _conversation(random, ignore_eos=True, logit_bias={"0": -100}, stream=True, stream_options=_USAGE)
    _is_full(await caller.answered("logit_bias stream", "chat", body), 1)


async def _scored(caller: Caller, random: Random) -> None:
    body = _conversation(random, ignore_eos=True, logprobs=True, top_logprobs=3)
    exchange = await caller.answered("top_logprobs", "chat", body)
    _is_full(exchange, 1)
    scores = exchange.answer["choices"][0]["logprobs"]["content"]
    _require([len(token["top_logprobs"]) for token in scores] == [3] * len(scores), scores)


async def _message(caller: Caller, random: Random) -> None:
    """By Anthropic's API."""
    body = _conversation(random, stream=random.random() < 0.5)
    exchange = await caller.answered(f"messages{' stream' * body['stream']}", "messages", body)
    answer = exchange.answer
    _require(answer["stop_reason"] in ("end_turn", "max_tokens"), answer)
    _require(0 < answer["usage"]["output_tokens"] <= _TOKENS, answer["usage"])


async def _socket(caller: Caller, random: Random) -> None:
    body = {"input": f"Number {random.randrange(10_000)}: hello", "max_output_tokens": _TOKENS, "store": False}
    exchange = await caller.answered_by_message("WebSocket", "responses", body)
    answer = exchange.answer
    _require(answer["status"] in ("completed", "incomplete"), answer)
    _require(0 < answer["usage"]["output_tokens"] <= _TOKENS, answer["usage"])


async def _stored(caller: Caller, random: Random) -> None:
    before = caller.journal.lost_stores
    try:
        await _keeps(caller, random)
    except Unanswered:
        if caller.journal.lost_stores == before:
            raise


async def _keeps(caller: Caller, random: Random) -> None:
    """A response is kept, read, continued and deleted."""
    body = {"input": f"Number {random.randrange(10_000)}: hello", "max_output_tokens": _TOKENS}
    exchange = await caller.answered("response", "responses", body | {"stream": random.random() < 0.5})
    made = exchange.answer
    path = f"/responses/{made['id']}"
    read = await caller.answered("response read", "response", path=path)
    _require(read.answer == made, read.answer)
    again = await caller.answered("response continued", "responses", body | {"previous_response_id": made["id"]})
    _require(again.answer["previous_response_id"] == made["id"], again.answer)
    for id in (made["id"], again.answer["id"]):
        gone = f"/responses/{id}"
        await caller.answered("response deleted", "response_deletion", path=gone, method="DELETE")
    _, end = await caller.ask("response gone", "response", path=path)
    _require(end.code == "response_not_found" or end.retryable, end)


async def _leaves_stream(caller: Caller, random: Random) -> None:
    body = _conversation(random, ignore_eos=True, stream=True) | {"max_tokens": 2000}
    await caller.answered("leaves", "chat", body, leave_after=random.randrange(1, 12))


async def _leaves(caller: Caller, random: Random) -> None:
    body = _conversation(random, ignore_eos=True) | {"max_tokens": 2000}
    await caller.answered("leaves", "chat", body, leave_at=random.uniform(0.01, 0.5))


async def _tokens(caller: Caller, random: Random) -> None:
    exchange = await caller.answered("tokenize", "tokenize", {"text": "one two three"})
    ids = exchange.answer["tokens"]
    again = await caller.answered("tokenize", "tokenize", {"text": "one two three"})
    _require(bool(ids) and again.answer["tokens"] == ids, ids)


async def _models(caller: Caller, random: Random) -> None:
    exchange = await caller.answered("models", "models")
    _require(caller.model in [model["id"] for model in exchange.answer["data"]], exchange.answer)


async def _image(caller: Caller, random: Random) -> None:
    colour = random.choice(["red", "green", "blue"])
    parts = [
        {"type": "image_url", "image_url": {"url": data_url(file(colour))}},
        {"type": "text", "text": "What is it?"},
    ]
    body = {"messages": [{"role": "user", "content": parts}], "max_tokens": 20, "temperature": 0}
    exchange = await caller.answered("image", "chat", body)
    text = exchange.answer["choices"][0]["message"]["content"]
    _require(text == f"The image is {colour}.", f"{text} ({colour})")


_ON_ALL: tuple[Kind, ...] = (
    _chat,
    _chat_stream,
    _choices,
    _completion,
    _schema,
    _call,
    _message,
    _socket,
    _stored,
    _leaves_stream,
    _leaves,
    _tokens,
    _models,
)
# The full-logits process runs no vision-language model.
KINDS: tuple[Kind, ...] = (*_ON_ALL, _biased, _scored)
SEEING: tuple[Kind, ...] = (*_ON_ALL, _image)


async def client(caller: Caller, random: Random, kinds: tuple[Kind, ...], until: asyncio.Event) -> None:
    """Asks one after the other, until it is told to end."""
    while not until.is_set():
        turn = list(kinds)
        random.shuffle(turn)
        for kind in turn:
            if until.is_set():
                break
            try:
                await kind(caller, random)
            except (Wrong, Unanswered) as error:
                caller.journal.fault(f"honest {kind.__name__.strip('_')}: {error}")
            except (LookupError, TypeError, ValueError) as error:
                caller.journal.fault(f"honest {kind.__name__.strip('_')}: {type(error).__name__} {error}")
            await asyncio.sleep(random.uniform(0, _THINKING))


def _is_full(exchange: Exchange, choices: int) -> None:
    """All choices have all the tokens that were asked for: the end of turn was ignored."""
    answer: Mapping[str, Any] = exchange.answer
    reasons = [choice["finish_reason"] for choice in answer["choices"]]
    _require(reasons == ["length"] * choices, reasons)
    _require(answer["usage"]["completion_tokens"] == _TOKENS * choices, answer["usage"])


def _fits(text: str) -> None:
    _require(jsonschema_rs.is_valid(CITY, json.loads(text)), text)


def _require(condition: bool, shown: Any) -> None:
    if not condition:
        raise Wrong(f"it isn't right: {str(shown)[:300]}")
