"""Addresses of hosts, without those that only this network can reach.

The address that was checked is the one that is connected to: a name that is resolved twice
may have two answers.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address

import anyio

Address = IPv4Address | IPv6Address


class PrivateAddressError(Exception):
    """A host with an address that is not public."""


async def address_of(host: str, port: int, *, allow_private: bool) -> str:
    """Return an address of `host`, which is a name or an address, to connect to.

    Raises:
        PrivateAddressError: One of its addresses is not public, and must be.
        OSError: It has no address.
    """
    found = await anyio.getaddrinfo(host, port, proto=6)
    addresses = [str(entry[4][0]).partition("%")[0] for entry in found]
    if not allow_private:
        for address in addresses:
            if not is_public(ip_address(address)):
                problem = f"{host} is at {address}, which is not a public address"
                raise PrivateAddressError(problem)
    return addresses[0]


def is_public(address: Address) -> bool:
    """Return whether `address` is that of the same host everywhere on the internet.

    An IPv6 address that stands for an IPv4 address, here or at a gateway, counts as that one.

    Source: RFC 4291 (mapped), RFC 3056 (6to4), RFC 6052 (NAT64).
    """
    if isinstance(address, IPv6Address):
        translated = int(address) >> 32 == _NAT64
        v4 = IPv4Address(int(address) & 0xFFFFFFFF) if translated else address.ipv4_mapped
        if (v4 := v4 or address.sixtofour) is not None:
            return is_public(v4)
    return address.is_global and not address.is_multicast and not address.is_reserved


_NAT64 = int(IPv6Address("64:ff9b::")) >> 32
