"""The headers of answers that are compared."""

from specvino.conformance.http.exchange import Exchange

# Headers of a single transfer.
OF_TRANSFER = ("connection", "content-length", "date", "keep-alive", "transfer-encoding", "age")

# Headers by which clients act, or that they show; a name that ends in `-` is the beginning of names. Others are advice.
ACTED_ON = (
    "access-control-",
    "allow",
    "content-encoding",
    "content-type",
    "location",
    "retry-after",
    "www-authenticate",
    "x-ratelimit-",
    "x-request-id",
    "x-should-retry",
    "x-unsupported-params",
)

# Those whose values are compared, too; other values are new in each answer.
WITH_VALUE = ("access-control-", "allow", "content-encoding", "content-type", "x-should-retry", "x-unsupported-params")

# The name for the parameters of a media type.
PARAMETERS = "content-type parameters"

# The name for whether the connection can be used again.
CONNECTION = "connection"


def is_acted_on(name: str) -> bool:
    """Returns whether clients act by a header, or show it."""
    return _is_among(name, ACTED_ON)


def header_facts(exchange: Exchange) -> dict[str, str]:
    """Returns what is compared of an answer's headers, by name."""
    facts = {name: _value(name, value, exchange) for name, value in exchange.headers.items() if name not in OF_TRANSFER}
    _, semicolon, parameters = exchange.headers.get("content-type", "").partition(";")
    if semicolon:
        facts[PARAMETERS] = parameters.strip().lower()
    if not exchange.request.is_message:
        facts[CONNECTION] = "closed" if exchange.connection is None else "kept open"
    return facts


def _value(name: str, value: str, exchange: Exchange) -> str:
    if not _is_among(name, WITH_VALUE):
        return "that of the request" if value == exchange.request.headers.get(name) else "sent"
    if name == "content-type":
        return exchange.media
    return ", ".join(sorted(part.strip() for part in value.split(",")))


def _is_among(name: str, names: tuple[str, ...]) -> bool:
    return any(name.startswith(known) if known.endswith("-") else name == known for known in names)
