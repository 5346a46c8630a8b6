"""Which network addresses images may be fetched from: those of the public internet, never those around us."""

import asyncio
import ipaddress
import socket

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

# Gateways to IPv4 that hide an address in their own, and the form that did so before them: some systems still send what
# has it to the IPv4 address.
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_COMPATIBLE = ipaddress.IPv6Network("::/96")


def is_public(address: Address) -> bool:
    """Returns False for private, loopback, link-local, shared, reserved and multicast ones, inside IPv6 ones too."""
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
    """Returns all addresses of a host, or the one that it spells. Raises OSError."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(ipaddress.ip_address(address[0]) for *_, address in found))
