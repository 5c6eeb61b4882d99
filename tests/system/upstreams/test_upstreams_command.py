"""`widgetd upstreams` prints the state of each and a hint."""

from __future__ import annotations

from pathlib import Path

import anyio
import orjson
import pytest

from tests.system.upstreams.servers import SHOP, Flights, json_reply, raw, serve_mcp, toml
from tests.system.upstreams.test_faults import FAULTS
from tests.system.upstreams.test_feeds import write_flight
from widgetd.cli import main
from widgetd.upstreams.declarations import read_file
from widgetd.upstreams.diagnosis import hint
from widgetd.upstreams.limits import LIMITS

AT_ONCE = {
    "service 404",
    "service 500",
    "service slow",
    "service half",
    "service 50 mb",
    "exits later",
}
"""Faults that only a call of their tool meets, or that the address of a service may well have."""


@pytest.mark.parametrize("fault", [name for name in FAULTS if name not in AT_ONCE])
async def test_command_prints_reason_and_hint_of_each_fault(
    fault: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    make, expected = FAULTS[fault]
    file = tmp_path / "u.toml"
    async with make(tmp_path) as upstreams:
        if "private" in fault or "307" in fault:
            pytest.skip("a service is not redirected from, nor refused, by its own address alone")
        file.write_text(upstreams.replace("connect_s = 60.0", "connect_s = 30.0"))
        [declaration] = read_file(file, {}).declarations.values()
        command = ["upstreams", "--file", str(file), "--test", "it"]
        with anyio.fail_after(declaration.connect_s + LIMITS.settle_s + 20):
            code = await anyio.to_thread.run_sync(main, command)

    reason = expected.partition(" ")[2] or "timeout"
    [line] = capfd.readouterr().out.splitlines()[-1:]
    assert code == 1
    kind = declaration.kind.name
    assert line == f"it  {kind:9}  failed    {reason}: {hint(declaration, reason)}"


def test_command_exits_with_one_if_an_upstream_fails(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "u.toml"
    file.write_text(
        toml("flights", url="http://127.0.0.1:9/mcp", headers={"Authorization": "s3cr3t"})
        + toml("off", url="http://127.0.0.1:9/mcp", enabled=False)
    )

    assert main(["upstreams", "--file", str(file)]) == 1
    out = capsys.readouterr().out
    assert out == (
        "flights  mcp        failed    refused: nothing listens there; check the port, and whether "
        "the server is started; in a container, that host is the container itself\n"
        "off      mcp        disabled  0 tools\n"
    )
    assert main(["upstreams", "--file", str(file), "--test", "off"]) == 0
    assert main(["upstreams", "--file", str(file), "--test", "none"]) == 1


async def test_render_command_fills_the_widget(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file, folder, flights = tmp_path / "u.toml", write_flight(tmp_path), Flights()
    command = ["render", "flight", "--dir", str(folder), "--upstreams", str(file)]
    async with serve_mcp(flights.mcp) as url:
        file.write_text(toml("flights", url=url, connect_s=60.0, call_s=60.0))
        arguments = [*command, "--arguments", '{"number": "UA7"}']
        assert await anyio.to_thread.run_sync(main, arguments) == 0
        tree = orjson.loads(capfd.readouterr().out)
        assert await anyio.to_thread.run_sync(main, [*arguments[:-1], "{}"]) == 1
        missing = capfd.readouterr().err
        assert await anyio.to_thread.run_sync(main, ["upstreams", "--file", str(file)]) == 0
        listed = capfd.readouterr().out
    file.write_text(toml("flights", url="http://127.0.0.1:9/mcp"))
    assert await anyio.to_thread.run_sync(main, arguments) == 1
    away = capfd.readouterr().err

    assert flights.calls == ["UA7"]
    assert "United" in str(tree)
    assert listed == "flights  mcp        ready     1 tool\n"
    assert "number: expected a string" in missing
    assert "the upstream 'flights' is not available (refused)" in away


async def test_call_command_prints_the_answer(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    (tmp_path / "shop.json").write_bytes(orjson.dumps(SHOP))
    file = tmp_path / "u.toml"
    async with raw(json_reply({"name": "Mug"})) as port, serve_mcp(Flights().mcp) as url:
        base = f"http://127.0.0.1:{port}"
        file.write_text(toml("shop", openapi="shop.json", base=base) + toml("flights", url=url))
        command = ["upstreams", "call", "shop", "get_product", "--file", str(file)]
        code = await anyio.to_thread.run_sync(main, [*command, "--arguments", '{"id": 1}'])
        assert code == 0
        assert capfdbinary.readouterr().out.endswith(b'{"name":"Mug"}\n')
        selected = [*command, "--arguments", '{"id": 1}', "--select", "name"]
        assert await anyio.to_thread.run_sync(main, selected) == 0
        assert capfdbinary.readouterr().out.endswith(b'"Mug"\n')
        assert await anyio.to_thread.run_sync(main, command) == 1
