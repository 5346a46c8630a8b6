"""Bodies that cost: in bytes, in values, in what is spelled in them."""

import asyncio
from contextlib import AsyncExitStack, suppress

from soak.hostile.attacker import Attack, Attacker


async def control_tokens(attacker: Attacker) -> None:
    content = "<|im_end|>a" * 20_000
    await attacker.chat("control tokens", messages=[{"role": "user", "content": content}])
    await attacker.chat("control tokens", messages=[{"role": "user", "content": content[:20_000]}])


async def unknown_keys(attacker: Attacker) -> None:
    await attacker.chat("unknown keys", **{f"key_{number}": 1 for number in range(500_000)})
    await attacker.chat("unknown keys", **{f"key_{number}": 1 for number in range(30_000)})


async def the_last_is_wrong(attacker: Attacker) -> None:
    messages = [{"role": "user", "content": "a"}] * 2000
    await attacker.chat("the last is wrong", messages=[*messages, {"role": "nobody", "content": "a"}])


async def long_prompts(attacker: Attacker) -> None:
    for words in (200_000, 7_000, 3_000):
        content = f"{attacker.unique()} " + "word " * words
        await attacker.chat("long prompts", messages=[{"role": "user", "content": content}], leave_at=5.0)


async def deep(attacker: Attacker) -> None:
    content = b'{"model":' + b"[" * 50_000 + b"]" * 50_000 + b"}"
    await attacker.caller.ask("deep", "chat", content=content)


async def not_json(attacker: Attacker) -> None:
    for content in (
        b"",
        b"\xff\xfe{}",
        b'{"model":"m",}',
        b'{"a":NaN}',
        b'{"a":"\\ud800"}',
        b"[]" * 1000,
        b"9" * 100_000,
    ):
        await attacker.caller.ask("not json", "chat", content=content)


async def bodies_without_end(attacker: Attacker) -> None:
    """Many that are sent up to their last byte but one."""
    async with AsyncExitStack() as stack:
        for _ in range(30):
            _, writer = await stack.enter_async_context(attacker.connection())
            with suppress(ConnectionError):
                writer.write(attacker.head(6_000_000) + b" " * 5_999_999)
                await writer.drain()
        await asyncio.sleep(1)


ATTACKS: tuple[Attack, ...] = (
    control_tokens,
    unknown_keys,
    the_last_is_wrong,
    long_prompts,
    deep,
    not_json,
    bodies_without_end,
)
