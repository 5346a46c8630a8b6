"""Where responses are kept: a protocol, a database behind it, or nothing."""

from specvino.handlers.store.none import NoStore
from specvino.handlers.store.protocol import Link, Record, ResponseStore, StoredItem, StoreUnavailable, Thread

__all__ = ["Link", "NoStore", "Record", "ResponseStore", "StoreUnavailable", "StoredItem", "Thread"]
