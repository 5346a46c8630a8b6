"""Images from other servers.

A request could make this server ask what only it can reach. So hosts must be allowed by name, must have public
addresses only, and the connection goes to an address that was judged: the name isn't looked up again. There is one
parser for URLs, redirects aren't followed, and no proxy or password of this machine is used.
"""

import asyncio
from collections.abc import Awaitable, Callable

import httpx

from specvino.handlers.media.addresses import Address, is_public, resolve
from specvino.handlers.media.refusals import DownloadFailed, InvalidImage, InvalidUrl
from specvino.handlers.media.settings import MAX_BYTES

_PORTS = {"http": 80, "https": 443}

# Seconds of silence, in any phase.
_PATIENCE = 10.0


class Fetcher:
    """`allows` judges addresses, and `look_up` finds them."""

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
        """Raises InvalidUrl for what is seen to be wrong without asking anybody."""
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
            raise InvalidUrl("The image's URL can't name a user.")
        if not self._everywhere and _name(parsed) not in self._domains:
            raise InvalidUrl("The image's URL names a host that this server doesn't fetch images from.")
        return parsed

    async def _addresses(self, url: httpx.URL) -> list[Address]:
        try:
            addresses = await self._look_up(_name(url), url.port or _PORTS[url.scheme])
        except (OSError, UnicodeError) as error:
            raise DownloadFailed("The image's server has no address.") from error
        if not all(map(self._allows, addresses)):
            raise InvalidUrl("The image's URL leads to an address that is not public.")
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
                raise DownloadFailed(f"The image's server answers with the status {response.status_code}.")
            return await _read(response)
        finally:
            await response.aclose()

    async def _connect(self) -> httpx.AsyncClient:
        self._client = httpx.AsyncClient(
            verify=await asyncio.to_thread(httpx.create_ssl_context),
            timeout=_PATIENCE,
            # A connection kept open would serve another name of the same address, whose certificate wasn't seen.
            limits=httpx.Limits(max_keepalive_connections=0),
            follow_redirects=False,
            trust_env=False,
        )
        return self._client


def _name(url: httpx.URL) -> str:
    return url.raw_host.decode().rstrip(".")


async def _read(response: httpx.Response) -> bytes:
    """The body as it comes: nothing is unpacked."""
    data = bytearray()
    async for piece in response.aiter_raw():
        data += piece
        if len(data) > MAX_BYTES:
            raise InvalidImage(f"The image has more than {MAX_BYTES:,} bytes.")
    return bytes(data)
