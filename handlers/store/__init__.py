"""Where responses are kept: a protocol, a database behind it, or nothing."""

from specvino.handlers.store.none import NoStore
from specvino.handlers.store.protocol import Item, Link, Record, ResponseStore, StoreUnavailable, Thread

__all__ = ["Item", "Link", "NoStore", "Record", "ResponseStore", "StoreUnavailable", "Thread"]
