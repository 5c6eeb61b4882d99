"""Shapes of an upstreams file give the same declarations."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from widgetd.base.errors import ConfigError
from widgetd.upstreams.declarations import Declaration, read_file


def read_declarations(
    folder: Path, text: str, name: str = "flights.toml", **environ: str
) -> dict[str, Declaration]:
    (folder / name).write_text(text)
    return dict(read_file(folder / name, environ).declarations)


REMOTE = {"url": "https://flights.example/mcp", "headers": {"X-Key": "1"}}

SHAPES = {
    "mcpServers": {"mcpServers": {"flights": REMOTE}},
    "servers": {"servers": {"flights": {**REMOTE, "type": "http"}}},
    "nested": {"mcpServers": {"flights": {"transport": {"type": "streamable-http", **REMOTE}}}},
    "bare": REMOTE,
    "unwrapped": {"flights": {**REMOTE, "description": "what only that host knows"}},
}


@pytest.mark.parametrize("shape", SHAPES)
def test_each_shape_of_json_gives_the_declarations_of_toml(shape: str, tmp_path: Path) -> None:
    ours = read_declarations(
        tmp_path, '[flights]\nurl = "https://flights.example/mcp"\nheaders = {X-Key = "1"}\n'
    )

    theirs = read_declarations(tmp_path, orjson.dumps(SHAPES[shape]).decode(), "flights.json")

    assert theirs == ours
    assert theirs["flights"].digest == ours["flights"].digest


def test_keys_of_other_hosts_are_translated(tmp_path: Path) -> None:
    text = orjson.dumps(
        {
            "mcpServers": {
                "a": {"command": "uvx", "args": ["my-mcp"], "timeout": 30000, "disabled": True},
                "b": {"url": "https://b.example/sse", "type": "sse", "auth": "t0ken"},
            }
        }
    ).decode()

    declarations = read_declarations(tmp_path, text, "mcp.json")

    assert (declarations["a"].kind.name, declarations["a"].table.call_s) == ("stdio", 30.0)
    assert not declarations["a"].table.enabled
    assert declarations["b"].table.transport == "sse"
    assert declarations["b"].secrets["headers"] == {"Authorization": "Bearer t0ken"}


def test_comments_and_order_change_no_declaration(tmp_path: Path) -> None:
    first = read_declarations(
        tmp_path, '[a]\nurl = "http://a.example"\ncall_s = 3.0\n[b]\ncommand = "b"\n'
    )

    second = read_declarations(
        tmp_path, '# so\n[b]\ncommand = "b"\n\n[a]\ncall_s = 3.0\nurl = "http://a.example"\n'
    )

    assert first == second


def test_secrets_are_filled_in_and_never_shown(tmp_path: Path) -> None:
    (tmp_path / "t").write_text("from-a-file\n")
    text = """
[a]
url = "https://${env:HOST}/mcp"
headers = { Authorization = "Bearer ${env:TOKEN}", B = "${file:t}", C = "${MISSING:-none}" }
"""
    one = read_declarations(tmp_path, text, TOKEN="from-the-environment", HOST="h.example")["a"]
    other = read_declarations(tmp_path, text, TOKEN="another", HOST="h.example")["a"]

    assert one.secrets["url"] == "https://h.example/mcp"
    assert one.secrets["headers"] == {
        "Authorization": "Bearer from-the-environment",
        "B": "from-a-file",
        "C": "none",
    }
    assert "from-" not in repr(one)
    assert one != other
    assert one.digest == other.digest


BAD = {
    "a is not TOML": (
        '[a]\nurl = "x\n',
        "u.toml is not TOML (at line 2, column 9); mend that line",
    ),
    "nothing": ("\n", "u.toml:1: it is empty; declare an upstream, or write a comment"),
    "an end too early": (
        '[a]\nurl = "x"\n[b',
        "u.toml is not TOML (at line 3, the last one); mend that line",
    ),
    "an unknown key": (
        '[a]\nurl = "http://a"\nheader = {}\n',
        "u.toml:3: the key 'a.header' is unknown; did you mean 'headers'?",
    ),
    "nothing said": (
        "[a]\n",
        "u.toml:1: 'a' says neither of url, command, openapi and endpoints; say exactly one",
    ),
    "two kinds": (
        '[a]\nurl = "http://a"\ncommand = "b"\n',
        "u.toml:1: 'a' says more than one of url, command, openapi and endpoints; say exactly one",
    ),
    "no address": (
        '[a]\nurl = "a.example/mcp"\n',
        "u.toml:2: 'a.url' is no address; begin it with https://",
    ),
    "no document": (
        '[a]\nopenapi = "none.json"\n',
        "none.json cannot be read (No such file or directory); name another",
    ),
    "a wrong type": (
        '[a]\nurl = "http://a"\nat_once = 0\n',
        "u.toml:3: 'a.at_once' cannot be used; write 1 or more",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_fault_of_the_file_names_its_line(case: str, tmp_path: Path) -> None:
    text, message = BAD[case]

    with pytest.raises(ConfigError) as raised:
        read_declarations(tmp_path, text, "u.toml")

    assert raised.value.code == "W5101"
    assert str(raised.value) == message


def test_missing_secret_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as raised:
        read_declarations(
            tmp_path, '[a]\nurl = "http://a"\nheaders = { B = "${env:NONE}" }\n', "u.toml"
        )

    assert raised.value.code == "W5102"
    assert str(raised.value) == (
        "u.toml:3: 'a.headers' asks for the variable NONE, which is not there; provide it"
    )


def test_invalid_json_names_its_line_and_quotes_nothing(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as raised:
        read_declarations(tmp_path, '{"mcpServers": {\n "a": {"auth": "s3cr3t" oops}}}', "u.json")

    assert str(raised.value) == "u.json:2: it is not JSON here; mend that line"
