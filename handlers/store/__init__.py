"""Storage of responses: a protocol, an implementation with a database, and one that stores nothing."""

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
