"""Stored items as JSON: they are read one by one, and only those that are wanted are decoded."""

from collections.abc import Iterable, Sequence

import msgspec

from specvino.handlers.store.protocol import MOST_BYTES, MOST_ITEMS, MOST_LINKS, PAGE_BYTES, TooLarge

RawItem = msgspec.Raw | bytes


class _Response(msgspec.Struct):
    output: list[msgspec.Raw]


class _Item(msgspec.Struct):
    id: str


_items = msgspec.json.Decoder(list[msgspec.Raw])
_response = msgspec.json.Decoder(_Response)
_item = msgspec.json.Decoder(_Item)


def raw_items(encoded: bytes) -> list[msgspec.Raw]:
    """Returns the items of a JSON array."""
    return _items.decode(encoded)


def raw_output(encoded: bytes) -> list[msgspec.Raw]:
    """Returns the items of a response's output."""
    return _response.decode(encoded).output


def id_of(item: RawItem) -> str:
    """Returns an item's id."""
    return _item.decode(item).id


def sizes_of(items: Iterable[RawItem]) -> list[int]:
    """Returns the sizes of items in bytes."""
    return [memoryview(item).nbytes for item in items]


def on_a_page(sizes: Sequence[int], limit: int) -> int:
    """Returns how many items with these sizes, in bytes, a page of at most `limit` has."""
    total = 0
    for count, size in enumerate(sizes[:limit]):
        total += size
        if count and total > PAGE_BYTES:
            return count
    return min(len(sizes), limit)


def require_bounded(size: int = 0, *, items: int = 0, links: int = 0) -> None:
    """Raises TooLarge for what a request continues or refers to: bytes, items, and responses of a chain."""
    if links > MOST_LINKS:
        raise TooLarge(f"a chain of {links:,} responses is too long; at most {MOST_LINKS:,} can be continued")
    if items > MOST_ITEMS:
        raise TooLarge(f"{items:,} stored items are too many; a request can use at most {MOST_ITEMS:,}")
    if size > MOST_BYTES:
        raise TooLarge(f"stored items of {size:,} bytes are too large; a request can use at most {MOST_BYTES:,}")
