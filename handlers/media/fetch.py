"""Images from other servers.

A request could make this server connect to internal hosts (SSRF). So hosts must be allowed by name and have public
addresses only, and the connection uses the checked address without resolving the name again. The same parser reads URLs
everywhere, redirects aren't followed, and neither proxies nor passwords of this machine are used.
"""

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable

import httpx

from specvino.handlers.media.rules import MAX_BYTES, DownloadFailed, InvalidImage, InvalidUrl

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

# IPv6 networks whose addresses contain an IPv4 address: NAT64 gateways, and the older compatible form, which some
# systems still send to the IPv4 address.
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_COMPATIBLE = ipaddress.IPv6Network("::/96")

_PORTS = {"http": 80, "https": 443}

# Seconds without data, in each phase of a download.
_PATIENCE = 10.0


def is_public(address: Address) -> bool:
    """Returns False for private, loopback, link-local, shared, reserved and multicast addresses, and for IPv6 addresses
    that contain one."""
    if isinstance(address, ipaddress.IPv6Address):
        inner = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
        if address in _NAT64:
            inner.append(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
        if not all(is_public(hidden) for hidden in inner if hidden is not None):
            return False
        if address.ipv4_mapped is not None:
            return True
        if address in _COMPATIBLE:
            return False
    return address.is_global and not address.is_multicast


async def resolve(host: str, port: int) -> list[Address]:
    """Returns all addresses of a host, which may itself be an address. Raises OSError."""
    results = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(ipaddress.ip_address(address[0]) for *_, address in results))


class Fetcher:
    """Fetches images from allowed hosts. `look_up` resolves a host to addresses, `allows` accepts or refuses each."""

    def __init__(
        self,
        domains: tuple[str, ...],
        *,
        allows: Callable[[Address], bool] = is_public,
        look_up: Callable[[str, int], Awaitable[list[Address]]] = resolve,
    ) -> None:
        self._everywhere = domains == ("all",)
        self._domains = {_name(httpx.URL(scheme="https", host=domain)) for domain in domains}
        self._allows = allows
        self._look_up = look_up
        self._client: httpx.AsyncClient | None = None

    def require_allowed(self, url: str) -> None:
        """Raises InvalidUrl for what can be checked without a connection."""
        self._parse(url)

    async def fetch(self, url: str) -> bytes:
        """Returns the file's bytes. Raises MediaRefused."""
        parsed = self._parse(url)
        addresses = await self._addresses(parsed)
        try:
            return await self._get(parsed, addresses)
        except httpx.TimeoutException as error:
            raise DownloadFailed("The image's server took too long.") from error
        except httpx.HTTPError as error:
            raise DownloadFailed("The image's server can't be reached.") from error

    def _parse(self, url: str) -> httpx.URL:
        try:
            parsed = httpx.URL(url)
        except httpx.InvalidURL as error:
            raise InvalidUrl("The image's URL is not valid.") from error
        if parsed.scheme not in _PORTS or not parsed.host or not 0 < (parsed.port or 1) < 1 << 16:
            raise InvalidUrl("The image's URL must begin with https:// or http:// and name a host.")
        if parsed.userinfo:
            raise InvalidUrl("The image's URL can't contain a user name or password.")
        if not self._everywhere and _name(parsed) not in self._domains:
            raise InvalidUrl("The image's URL names a host that this server isn't allowed to fetch images from.")
        return parsed

    async def _addresses(self, url: httpx.URL) -> list[Address]:
        try:
            addresses = await self._look_up(_name(url), url.port or _PORTS[url.scheme])
        except (OSError, UnicodeError) as error:
            raise DownloadFailed("The image's host can't be resolved.") from error
        if not all(map(self._allows, addresses)):
            raise InvalidUrl("The image's URL resolves to an address that is not public.")
        return addresses

    async def _get(self, url: httpx.URL, addresses: list[Address]) -> bytes:
        for address in addresses[:-1]:
            try:
                return await self._get_from(url, address)
            except httpx.ConnectError:
                continue
        return await self._get_from(url, addresses[-1])

    async def _get_from(self, url: httpx.URL, address: Address) -> bytes:
        client = self._client or await self._connect()
        request = client.build_request(
            "GET",
            url.copy_with(host=str(address)),
            headers={"Host": url.netloc.decode(), "Accept": "image/*", "Accept-Encoding": "identity"},
            extensions={"sni_hostname": _name(url)},
        )
        response = await client.send(request, stream=True)
        try:
            if response.status_code != 200:
                raise DownloadFailed(f"The image's server returned status {response.status_code}.")
            return await _read(response)
        finally:
            await response.aclose()

    async def _connect(self) -> httpx.AsyncClient:
        self._client = httpx.AsyncClient(
            verify=await asyncio.to_thread(httpx.create_ssl_context),
            timeout=_PATIENCE,
            # A kept-alive connection would be reused for other hosts at the same address, without a check of their
            # certificates.
            limits=httpx.Limits(max_keepalive_connections=0),
            follow_redirects=False,
            trust_env=False,
        )
        return self._client


def _name(url: httpx.URL) -> str:
    return url.raw_host.decode().rstrip(".")


async def _read(response: httpx.Response) -> bytes:
    """Returns the body without decompressing it."""
    data = bytearray()
    async for piece in response.aiter_raw():
        data += piece
        if len(data) > MAX_BYTES:
            raise InvalidImage(f"The image is larger than {MAX_BYTES:,} bytes.")
    return bytes(data)
