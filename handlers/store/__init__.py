"""Where responses are stored: a protocol, a database that implements it, and a store that keeps nothing."""

from specvino.handlers.store.protocol import (
    UNFINISHED,
    Link,
    NoStore,
    Record,
    ResponseStore,
    StoredItem,
    StoreUnavailable,
    Thread,
)

__all__ = ["UNFINISHED", "Link", "NoStore", "Record", "ResponseStore", "StoreUnavailable", "StoredItem", "Thread"]
