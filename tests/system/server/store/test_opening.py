from __future__ import annotations

import sys

import pytest

from tests.system.server.store.replicas import replicas, stored_render
from tests.system.server.store.server import Server
from widgetd.base.errors import ConfigError
from widgetd.base.extras import install_advice
from widgetd.server.store.factory import open_store


async def test_store_without_a_url_is_local_to_the_process() -> None:
    async with open_store() as store:
        await store.renders.put(stored_render())

        assert store.mode() == "local"
        assert await store.renders.get("r1") == stored_render()


async def test_two_prefixes_on_one_server_are_separate(shared_server: Server) -> None:
    async with replicas(shared_server) as one, replicas(shared_server) as other:
        await one.here.renders.put(stored_render())

        assert await other.here.renders.get("r1") is None


async def test_error_of_the_block_is_raised_unchanged(backend: Server | None) -> None:
    with pytest.raises(ZeroDivisionError):
        async with replicas(backend):
            raise ZeroDivisionError


def test_url_without_redis_py_is_refused_with_the_package_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "redis", None)

    with pytest.raises(ConfigError) as caught:
        open_store("redis://localhost")

    assert (caught.value.code, caught.value.exit_code) == ("W0002", 2)
    assert str(caught.value) == (
        "a store on a server needs redis-py, which is not installed; " + install_advice("redis")
    )
