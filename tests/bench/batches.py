"""Greedy answers alone and beside others: how many differ."""

import asyncio
from collections.abc import Sequence

import httpx
from rich.console import Console
from support.serving import Server

NEW_TOKENS = 128

TOPICS = ("the sea", "a bridge", "bread", "the moon", "a violin", "rain", "a railway", "coffee")
TASKS = ("Describe", "Explain to a child", "Write a letter about", "List facts about")
STYLES = ("in plain words", "as a story")


def compare(server: Server, console: Console, together: Sequence[int]) -> None:
    """Prints for each number of requests at once how many of the answers differ from those of the requests alone, and
    from which token on, in the median. Each request is answered twice alone, so that its prompt is cached."""
    prompts = [f"{task} {topic} {style}." for task in TASKS for topic in TOPICS for style in STYLES]
    asyncio.run(_compare(server, console, prompts, together))


async def _compare(server: Server, console: Console, prompts: Sequence[str], together: Sequence[int]) -> None:
    settings = {"model": "bench", "temperature": 0, "max_tokens": NEW_TOKENS, "return_token_ids": True}
    async with httpx.AsyncClient(base_url=server.url, timeout=None) as client:

        async def ids(prompt: str) -> list[int]:
            body = {**settings, "messages": [{"role": "user", "content": prompt}]}
            response = await client.post("/chat/completions", json=body)
            response.raise_for_status()
            answer: list[int] = response.json()["choices"][0]["token_ids"]
            return answer

        first = [await ids(prompt) for prompt in prompts]
        alone = [await ids(prompt) for prompt in prompts]
        _print(console, "alone, again", first, alone)
        for number in together:
            slots = asyncio.Semaphore(number)

            async def limited(prompt: str, slots: asyncio.Semaphore = slots) -> list[int]:
                async with slots:
                    return await ids(prompt)

            _print(console, f"{number} at once", alone, await asyncio.gather(*map(limited, prompts)))


def _print(console: Console, name: str, before: Sequence[list[int]], after: Sequence[list[int]]) -> None:
    places = sorted(_difference(*pair) for pair in zip(before, after, strict=True) if pair[0] != pair[1])
    where = f", in the median from token {places[len(places) // 2]} of {NEW_TOKENS} on" if places else ""
    console.print(f"{name}: {len(places)} of {len(before)} answers differ{where}")


def _difference(one: list[int], other: list[int]) -> int:
    """The index of the first different token of two different answers."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((index for index, (a, b) in pairs if a != b), min(len(one), len(other)))
