"""A port that cannot be had is a sentence for the operator."""

from __future__ import annotations

import pytest

from widgetd.base.errors import ConfigError
from widgetd.server.web.http_server import bind, url_of


def test_port_in_use_is_named() -> None:
    with bind("127.0.0.1", 0) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(ConfigError) as caught:
            bind("127.0.0.1", port)

    assert str(caught.value) == (
        f"port {port} on 127.0.0.1 is in use; stop what uses it, or choose another with --port"
    )
    assert (caught.value.code, caught.value.exit_code) == ("W0005", 3)


def test_address_of_another_machine_is_refused() -> None:
    with pytest.raises(ConfigError) as caught:
        bind("300.1.1.1", 0)

    assert str(caught.value) == (
        "300.1.1.1 is not an address of this machine; name one with --host, as 127.0.0.1 or 0.0.0.0"
    )


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_url_is_usable_by_a_client_on_this_machine(host: str) -> None:
    with bind(host, 0) as listener:
        assert url_of(listener) == f"http://127.0.0.1:{listener.getsockname()[1]}"
