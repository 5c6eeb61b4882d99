"""Requests go to the address that was checked; authorities are read once for all clients."""

from __future__ import annotations

import os
import ssl
from ipaddress import ip_address
from pathlib import Path

import httpx2
import pytest

from widgetd.server.store.delivery.addresses import PrivateAddressError, pin_address, tls_context


async def test_request_goes_to_an_address_and_keeps_the_name_for_host_and_certificate() -> None:
    request = httpx2.Request("GET", "https://localhost:8443/a?b=c", extensions={"timeout": {}})

    await pin_address(request, allow_private=True)

    assert ip_address(request.url.host).is_loopback
    assert str(request.url.copy_with(host="localhost")) == "https://localhost:8443/a?b=c"
    assert request.headers["host"] == "localhost:8443"
    assert request.extensions == {"timeout": {}, "sni_hostname": "localhost"}


async def test_request_to_a_private_address_is_refused_unchanged() -> None:
    request = httpx2.Request("GET", "http://localhost/")

    with pytest.raises(PrivateAddressError, match=r"localhost is at \S+, which is not a public"):
        await pin_address(request, allow_private=False)

    assert str(request.url) == "http://localhost/"


def test_authorities_are_read_again_only_after_they_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = ssl.get_default_verify_paths()._replace(openssl_cafile="", openssl_capath=str(tmp_path))
    monkeypatch.setattr(ssl, "get_default_verify_paths", lambda: paths)
    first = tls_context()

    assert tls_context() is first
    os.utime(tmp_path, (1, 1))
    assert tls_context() is not first
