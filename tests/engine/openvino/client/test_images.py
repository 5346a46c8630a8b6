"""Whose image is decoded next."""

import asyncio
import os
import signal

from support.images import file
from support.processes import leaving_no_process

from specvino.engine.openvino.client.images import ImageClient
from specvino.engine.protocol import CLIENT, REQUEST

LARGE = (2100, 2000)


async def _decoded(client: ImageClient, data: bytes, by: str, request: str, order: list[str]) -> None:
    CLIENT.set(by)
    REQUEST.set(request)
    await client.decode(data, 200, 50_000_000)
    order.append(request)


async def _order(process: str, *asked: tuple[bytes, str, str]) -> list[str]:
    """The order in which images are decoded that are all asked for while a process stands still. The others answer."""
    client, order = ImageClient(3000), list[str]()
    try:
        for size in ((40, 30), LARGE):
            await client.decode(file("red", size), 200, 50_000_000)
        pid = client.pids[process]
        assert pid
        os.kill(pid, signal.SIGSTOP)
        tasks = [asyncio.create_task(_decoded(client, *one, order)) for one in asked]
        if process == "large_image":
            await tasks.pop()
        else:
            await asyncio.sleep(0)
        os.kill(pid, signal.SIGCONT)
        await asyncio.gather(*tasks)
    finally:
        await client.close()
    return order


def test_a_small_image_waits_for_no_large_one() -> None:
    asked = [(file("red", LARGE), "address", f"large {number}") for number in range(2)]
    with leaving_no_process():
        order = asyncio.run(_order("large_image", *asked, (file("blue"), "address", "small")))
    assert order == ["small", "large 0", "large 1"]


def test_a_small_image_waits_for_one_larger_one_of_the_same_address() -> None:
    larger, small = file("red", (900, 900)), file("blue", (40, 30), "JPEG")
    asked = [(larger, "address", f"larger {number}") for number in range(4)]
    with leaving_no_process():
        order = asyncio.run(_order("image", *asked, (small, "address", "small")))
    assert order == ["larger 0", "small", "larger 1", "larger 2", "larger 3"]


def test_images_of_unknown_size_count_as_large() -> None:
    hidden, small = file("red", (40, 30), "JPEG"), file("blue")
    hidden = hidden[:2] + (b"\xff\xe1\xff\xff" + bytes(0xFFFD)) * 5 + hidden[2:]
    with leaving_no_process():
        order = asyncio.run(_order("large_image", (hidden, "address", "hidden"), (small, "address", "small")))
    assert order == ["small", "hidden"]
