"""Storage of responses and conversations: protocols, an implementation with a database, and one that stores nothing."""

from specvino.handlers.store.outage import Outage
from specvino.handlers.store.protocol import (
    UNFINISHED,
    Account,
    Accounts,
    Conversation,
    ConversationStore,
    Link,
    NoStore,
    OwnAccounts,
    Page,
    Record,
    ResponseStore,
    StoredItem,
    StoreUnavailable,
    StoreUnusable,
    Thread,
    TooLarge,
)

__all__ = [
    "UNFINISHED",
    "Account",
    "Accounts",
    "Conversation",
    "ConversationStore",
    "Link",
    "NoStore",
    "Outage",
    "OwnAccounts",
    "Page",
    "Record",
    "ResponseStore",
    "StoreUnavailable",
    "StoreUnusable",
    "StoredItem",
    "Thread",
    "TooLarge",
]
