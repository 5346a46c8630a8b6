"""Who wants all places, and the memory of their tokens."""

import asyncio

from soak.hostile.attacker import Attack, Attacker


async def choices_without_end(attacker: Attacker) -> None:
    prompts = [f"{attacker.unique()} {number}" for number in range(16)]
    body = {"prompt": prompts, "n": 128, "max_tokens": 50, "ignore_eos": True}
    await attacker.caller.ask("choices without end", "completions", body, leave_at=8.0)


async def a_crowd(attacker: Attacker) -> None:
    """More requests than may wait, all of which leave."""

    async def one() -> None:
        await attacker.chat("a crowd", max_tokens=2000, ignore_eos=True, n=8, leave_at=4.0)

    await asyncio.gather(*(one() for _ in range(90)))


async def in_and_out(attacker: Attacker) -> None:
    for _ in range(40):
        leave = attacker.random.uniform(0, 0.08)
        await attacker.chat("in and out", max_tokens=2000, ignore_eos=True, n=8, stream=True, leave_at=leave)


async def a_wide_search(attacker: Attacker) -> None:
    await attacker.chat("a wide search", best_of=20, n=20, max_tokens=40, leave_at=8.0)


async def echo_with_logprobs(attacker: Attacker) -> None:
    """Has the model loaded a second time."""
    prompt = f"{attacker.unique()} " + "word " * 500
    body = {"prompt": prompt, "max_tokens": 4, "echo": True, "logprobs": 1}
    await attacker.caller.ask("echo with logprobs", "completions", body)


async def background(attacker: Attacker) -> None:
    """Begun and never asked for again, or cancelled at once."""
    for cancels in (False, True, True):
        body = {"input": "hello", "background": True, "max_output_tokens": 200}
        exchange, end = await attacker.caller.ask("background", "responses", body)
        if end.outcome == "answered" and cancels:
            path = f"/responses/{exchange.answer['id']}/cancel"
            await attacker.caller.ask("background cancelled", "response_cancel", method="POST", path=path)


async def a_long_chain(attacker: Attacker) -> None:
    """Responses that each continue the one before."""
    before = None
    for _ in range(12):
        body = {"input": "and then?", "max_output_tokens": 1, "previous_response_id": before}
        exchange, end = await attacker.caller.ask("a long chain", "responses", body)
        if end.outcome != "answered":
            return
        before = exchange.answer["id"]


ATTACKS: tuple[Attack, ...] = (
    choices_without_end,
    a_crowd,
    in_and_out,
    a_wide_search,
    echo_with_logprobs,
    background,
    a_long_chain,
)
