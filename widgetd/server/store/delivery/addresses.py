"""Requests to servers of others: checked addresses, and trusted authorities.

A name resolved twice may have two addresses, so a request goes to the checked address itself.
"""

from __future__ import annotations

import ssl
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

if TYPE_CHECKING:
    from httpx2 import Request

Address = IPv4Address | IPv6Address


class PrivateAddressError(Exception):
    """A host has an address that is not public."""


async def pin_address(request: Request, *, allow_private: bool) -> None:
    """Direct a request to an address of its host, so no second lookup follows the check.

    Raises:
        PrivateAddressError: An address of the host is not public, and must be.
        OSError: It has no address.
    """
    url = request.url
    port = url.port or (443 if url.scheme == "https" else 80)
    entries = await anyio.getaddrinfo(url.host, port, proto=6)
    addresses = [str(entry[4][0]).partition("%")[0] for entry in entries]
    if not allow_private:
        for address in addresses:
            if not is_public(ip_address(address)):
                problem = f"{url.host} is at {address}, which is not a public address"
                raise PrivateAddressError(problem)
    request.headers.setdefault("host", url.netloc.decode())
    # The name that the certificate must have.
    request.extensions = {**request.extensions, "sni_hostname": url.host}
    request.url = url.copy_with(host=addresses[0])


def tls_context() -> ssl.SSLContext:
    # Changed files are read again. Reading takes 25 ms, which each client would spend in the
    # event loop.
    paths = ssl.get_default_verify_paths()
    return _read_authorities(_modified_ns(paths.openssl_cafile), _modified_ns(paths.openssl_capath))


@lru_cache(maxsize=1)
def _read_authorities(*_versions: int) -> ssl.SSLContext:
    import httpx2  # noqa: PLC0415 - most daemons send no request

    return httpx2.create_ssl_context(trust_env=False)


def _modified_ns(path: str) -> int:
    try:
        return Path(path).stat().st_mtime_ns
    except OSError:
        return 0


def is_public(address: Address) -> bool:
    """Return whether `address` belongs to the same host everywhere on the internet.

    An IPv6 address for an IPv4 address, here or at a gateway, counts as the latter.

    Source: RFC 4291 (mapped), RFC 3056 (6to4), RFC 6052 (NAT64).
    """
    if isinstance(address, IPv6Address):
        translated = int(address) >> 32 == _NAT64
        v4 = IPv4Address(int(address) & 0xFFFFFFFF) if translated else address.ipv4_mapped
        if (v4 := v4 or address.sixtofour) is not None:
            return is_public(v4)
    return address.is_global and not address.is_multicast and not address.is_reserved


_NAT64 = int(IPv6Address("64:ff9b::")) >> 32
