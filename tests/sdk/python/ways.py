"""The same use of both clients."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

from specvino_client import AsyncClient, Client, ClientError


def outcomes(url: str, use: Callable[[Any], Any], **options: Any) -> Iterator[list[Any]]:
    """What `use` gives with the one and with the other: an answer or the events of a stream, then the error."""
    with Client(url, **options) as client:
        yield _outcome(client, use)
    yield asyncio.run(_outcome_later(url, use, options))


def _outcome(client: Client, use: Callable[[Any], Any]) -> list[Any]:
    came: list[Any] = []
    try:
        value = use(client)
        for element in value if isinstance(value, Iterator) else [value]:
            came.append(element)
    except ClientError as error:
        came.append(error)
    return came


async def _outcome_later(url: str, use: Callable[[Any], Any], options: dict[str, Any]) -> list[Any]:
    came: list[Any] = []
    async with AsyncClient(url, **options) as client:
        try:
            value = use(client)
            if isinstance(value, AsyncIterator):
                async for element in value:
                    came.append(element)
            else:
                came.append(await value)
        except ClientError as error:
            came.append(error)
    return came
