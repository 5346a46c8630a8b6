"""Who asks: so that what many wait for can be shared out among clients."""

from contextvars import ContextVar

# Set by the server for each request. Without it all are one client.
CLIENT: ContextVar[str] = ContextVar("client", default="")
