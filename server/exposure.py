"""Who can reach a server: without a key, nobody from another machine."""

import ipaddress


class ServeError(Exception):
    """The server can't start; `str()` says why in one line."""


def require_unreachable(host: str, address: str) -> None:
    """Raises ServeError where other machines can reach the IP address that a host has."""
    if not ipaddress.ip_address(address).is_loopback:
        raise ServeError(
            f"other machines can reach {host}, so an API key is needed: --api-key-file FILE or SPECVINO_API_KEY "
            "(--insecure serves everybody without one)"
        )
