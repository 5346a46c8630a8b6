"""POST /chat/completions."""

from specvino.handlers.chat.handler import Chat

__all__ = ["Chat"]
