"""Whose image is decoded next."""

import asyncio
import os
import signal

from support.images import file
from support.processes import leaving_no_process

from specvino.engine.openvino.client.images import ImageClient
from specvino.engine.protocol import CLIENT, REQUEST


async def _decoded(client: ImageClient, data: bytes, by: str, request: str, order: list[str]) -> None:
    CLIENT.set(by)
    REQUEST.set(request)
    await client.decode(data, 200, 50_000_000)
    order.append(request)


async def _order(*asked: tuple[bytes, str, str]) -> list[str]:
    """The order in which images are decoded that are all asked for while the process stands still."""
    client, order = ImageClient(3000), list[str]()
    try:
        await client.decode(file("red"), 200, 50_000_000)
        assert client.pid
        os.kill(client.pid, signal.SIGSTOP)
        tasks = [asyncio.create_task(_decoded(client, *one, order)) for one in asked]
        await asyncio.sleep(0)
        os.kill(client.pid, signal.SIGCONT)
        await asyncio.gather(*tasks)
    finally:
        await client.close()
    return order


def test_a_small_image_waits_for_one_large_one_of_the_same_address() -> None:
    large, small = file("red", (900, 900)), file("blue", (40, 30), "JPEG")
    asked = [(large, "address", f"large {number}") for number in range(4)]
    with leaving_no_process():
        order = asyncio.run(_order(*asked, (small, "address", "small")))
    assert order == ["large 0", "small", "large 1", "large 2", "large 3"]


def test_images_of_unknown_size_count_as_large() -> None:
    hidden, large = file("red", (40, 30), "JPEG"), file("red", (900, 900))
    hidden = hidden[:2] + (b"\xff\xe1\xff\xff" + bytes(0xFFFD)) * 5 + hidden[2:]
    with leaving_no_process():
        order = asyncio.run(
            _order(*((data, "address", name) for data, name in ((large, "a"), (hidden, "b"), (large, "c"))))
        )
    assert order == ["a", "c", "b"]
