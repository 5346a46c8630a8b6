"""What a second replica brings, and what it brings that conversations come back to theirs:
`PYTHONPATH=tests python -m many_machines.throughput`. Says ratios; both sides of one are measured in turns."""

import asyncio
import statistics
import time
import uuid

import httpx
from support.replicas import deployed

SCRIPTED = ("--engine", "scripted", "--served-model-name", "m", "--response-store", "none", "--max-num-seqs", "16")
MODEL = ("--served-model-name", "m", "--response-store", "none", "--max-num-seqs", "16", "--cache-size", "2")
LONG = "The history of bridges is long, and every country has a part in it. " * 40


async def tokens_per_second(url: str, text: str, streams: int, tokens: int) -> float:
    async with httpx.AsyncClient(base_url=url, timeout=600) as client:

        async def one(number: int) -> int:
            body = {"model": "m", "messages": [{"role": "user", "content": text.format(number)}], "stream": True}
            count = 0
            async with client.stream("POST", "/chat/completions", json=body | {"max_tokens": tokens}) as response:
                async for line in response.aiter_lines():
                    count += '"content":"' in line and '"content":""' not in line
            return count

        began = time.monotonic()
        counts = await asyncio.gather(*(one(number) for number in range(streams)))
        return sum(counts) / (time.monotonic() - began)


async def first_token(url: str, *, comes_back: bool) -> float:
    """The mean of the seconds to the first token of the second turns of twelve conversations: later ones find their
    beginning anywhere, once each replica has had a turn."""
    times = []
    async with httpx.AsyncClient(base_url=url, timeout=600) as client:
        for number in range(12):
            messages = [{"role": "user", "content": f"{uuid.uuid4()} {number} {LONG}"}]
            for turn in range(2):
                headers = {} if comes_back else {"x-session-id": str(uuid.uuid4())}
                body = {"model": "m", "messages": messages, "stream": True, "max_tokens": 4}
                began = time.monotonic()
                async with client.stream("POST", "/chat/completions", json=body, headers=headers) as response:
                    seen = False
                    async for line in response.aiter_lines():
                        if not seen and '"content":"' in line and '"content":""' not in line:
                            seen = True
                            times += [time.monotonic() - began] if turn else []
                messages += [{"role": "assistant", "content": "Yes."}, {"role": "user", "content": f"And {turn}?"}]
    return statistics.mean(times)


def main() -> None:
    scripted = "script: delay=0.05\n" + "{} " * 1 + "word " * 99
    for name, options, text, tokens in (
        ("scripted engine, 0.05 s a token", SCRIPTED, scripted, 100),
        ("default model", MODEL, "Tell me a story about the number {}.", 64),
    ):
        with deployed(*options) as one:
            asyncio.run(tokens_per_second(one.url, text, 32, tokens))
            single = asyncio.run(tokens_per_second(one.url, text, 32, tokens))
        with deployed(*options, "--replicas", "2") as two:
            asyncio.run(tokens_per_second(two.url, text, 32, tokens))
            double = asyncio.run(tokens_per_second(two.url, text, 32, tokens))
        print(
            f"{name}, 32 streams: {single:.0f} tokens/s with one replica, {double:.0f} with two: {double / single:.2f}"
        )
    with deployed(*MODEL, "--replicas", "2") as two:
        pairs = [
            [asyncio.run(first_token(two.url, comes_back=comes_back)) for comes_back in (True, False)] for _ in range(3)
        ]
    back, away = (statistics.median(column) for column in zip(*pairs, strict=True))
    print(f"second turns of conversations: first token after {back:.2f} s at their replica, {away:.2f} s at any")


if __name__ == "__main__":
    main()
