"""Secrets are in no log, no list of settings and no error."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from tests.support.forked_daemons import forked_daemon
from tests.support.patience import PATIENCE_S
from tests.support.processes import WIDGETD
from tests.system.server.mcp.issuing import authorizing
from widgetd.base.redaction import (
    MASK,
    SecretUrl,
    conceal,
    conceal_temporarily,
    redact,
    shorten_addresses,
)
from widgetd.settings import SECRETS, Settings

ADDRESS = "https://ada:PASSWORD-1234@hooks.example:8443/services/PATH-TOKEN-123456?key=QUERY-9876"
SECRET_TEXTS = ("PASSWORD-1234", "PATH-TOKEN-123456", "QUERY-9876")


def run(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    clean = {name: text for name, text in os.environ.items() if not name.startswith("WIDGETD_")}
    return subprocess.run(
        [*WIDGETD, *words],
        env={**clean, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_settings_with_possible_secrets_are_known() -> None:
    assert {"chat_key", "chat_url", "store", "token", "webhook", "webhook_secret"} == SECRETS


def test_settings_command_shows_no_secret() -> None:
    ended = run(
        "serve",
        "--settings",
        "--store",
        "redis://:PASSWORD-1234@db.example/0",
        "--webhook",
        ADDRESS,
        WIDGETD_CHAT_URL=ADDRESS,
        WIDGETD_CHAT_KEY="QUERY-9876",
        WIDGETD_WEBHOOK_SECRET="QUERY-9876",
    )

    assert ended.returncode == 0, ended.stderr
    values = {
        line.split()[0]: line.split()[1] for line in ended.stdout.splitlines() if line[0] != "["
    }
    assert {name: json.loads(values[name]) for name in sorted(SECRETS - {"token"})} == {
        "chat_key": MASK,
        "chat_url": "https://hooks.example:8443",
        "store": "redis://db.example",
        "webhook": "https://hooks.example:8443",
        "webhook_secret": MASK,
    }
    assert not any(text in ended.stdout + ended.stderr for text in SECRET_TEXTS)


ADDRESSES = {
    "cors_origin",
    "image_origin",
    "inline_image_origin",
    "jwt_issuer",
    "jwt_jwks",
    "public_url",
}
"""Settings that may hold an address whose user, password or query is a secret."""

NO_SECRETS = {
    "allowed_host": "names of hosts",
    "chat_model": "the name of a model",
    "chat_tools": "names of tools and toolsets",
    "exclude": "names of widgets",
    "host": "an address of this machine",
    "include": "names of widgets",
    "jwt_algorithm": "the name of an algorithm",
    "jwt_audience": "a name that every token repeats",
    "keyword_tools": "names of keywords",
    "profiles": "names of clients",
    "toolset": "names of toolsets",
}
"""Settings of texts that are no secret, with the reason."""


def test_every_setting_of_a_text_is_known_to_hold_a_secret_an_address_or_neither() -> None:
    texts = {
        name
        for name, field in Settings.model_fields.items()
        if name not in SECRETS and "str" in str(field.annotation)
    }

    assert texts == ADDRESSES | NO_SECRETS.keys()


@pytest.mark.parametrize("name", sorted(ADDRESSES))
def test_settings_command_shows_addresses_without_user_password_and_query(name: str) -> None:
    output = run("serve", "--settings", **{f"WIDGETD_{name.upper()}": f"{ADDRESS}#PASSWORD-1234"})
    printed = output.stdout + output.stderr

    assert "https://hooks.example:8443/services/PATH" in printed
    assert not any(text in printed for text in ("ada", "PASSWORD-1234", "QUERY-9876"))
    assert (output.returncode == 0) == (name != "public_url"), "it may have none of these"


def test_wrong_token_setting_is_not_echoed() -> None:
    ended = run("serve", "--settings", WIDGETD_TOKEN="PASSWORD-1234")

    assert ended.stderr == (
        "widgetd: the value of WIDGETD_TOKEN cannot be used; write 'auto' [W0002]\n"
    )


async def test_log_at_debug_level_holds_no_secret_of_an_upstream(tmp_path: Path) -> None:
    widgets, log, file = tmp_path / "widgets", tmp_path / "log", tmp_path / "up.toml"
    widgets.mkdir()
    os.environ["TEST_UPSTREAM_KEY"] = 'QUERY-9876-"ü'
    try:
        with anyio.fail_after(4 * PATIENCE_S):
            async with authorizing() as upstream:
                file.write_text(
                    f'[a]\nurl = "{upstream.url}/PATH-TOKEN-123456'
                    '?key=${env:TEST_UPSTREAM_KEY}"\n'
                    'headers = {Authorization = "Bearer PASSWORD-1234"}\nrequired = true\n'
                )
                flags = ("--upstreams", str(file), "--log-level", "debug")
                async with forked_daemon(widgets, *flags, log=log) as served:
                    while "HTTP Request" not in log.read_text():  # noqa: ASYNC110 - no event reports it
                        await anyio.sleep(0.01)
                    served.send(signal.SIGTERM)
                    await served.wait_for_end()
    finally:
        del os.environ["TEST_UPSTREAM_KEY"]

    text = log.read_text()
    assert f"HTTP Request: POST {upstream.url} " in text
    assert not any(secret in text for secret in (*SECRET_TEXTS, "QUERY"))


_LOGGED = """
import sys
from widgetd.daemon import telemetry
from widgetd.base.logs import get_logger
from widgetd.server.observe.log_ring import LogRing
from widgetd.base.redaction import Secret

ring = LogRing()
telemetry.configure("debug", readable=READABLE, also=ring)
secret = Secret("p'ss \\\\ word\\u00fc")
try:
    raise LookupError(secret.get_secret_value())
except LookupError as error:
    said = {"problem": str(error), "at": {"a": [secret.get_secret_value()]}}
    get_logger().exception("call.crashed", **said)
sys.stderr.write(str([event.line for event in ring.after("")[0]]))
"""


@pytest.mark.parametrize("readable", [True, False])
def test_every_part_of_an_event_is_without_secrets(*, readable: bool) -> None:
    script = _LOGGED.replace("READABLE", str(readable))
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )

    assert ended.stderr.count(MASK) >= 3
    assert "ss " not in ended.stderr.replace("class ", "")
    assert "word" not in ended.stderr


def test_secrets_are_removed_as_texts_json_and_addresses_have_them() -> None:
    conceal("s3cret\n\"'é")
    conceal("short")
    forms = ("s3cret\n\"'é", '"s3cret\\n\\"\'\\u00e9"', "k=s3cret%0A%22%27%C3%A9", "short")

    assert [redact(form) for form in forms] == [MASK, f'"{MASK}"', f"k={MASK}", "short"]


def test_secret_is_removed_as_long_as_someone_conceals_it() -> None:
    with conceal_temporarily("a-delegated-token"):
        with conceal_temporarily("a-delegated-token"):
            pass
        assert redact("a-delegated-token") == MASK
    assert redact("a-delegated-token") == "a-delegated-token"


def test_addresses_are_shown_as_their_origin() -> None:
    assert str(SecretUrl(ADDRESS)) == "https://hooks.example:8443"
    assert redact(ADDRESS) == f"https://ada:{MASK}@hooks.example:8443/services/{MASK}?key={MASK}"
    assert shorten_addresses(f"POST {ADDRESS} 'http://a/b' done") == (
        "POST https://hooks.example:8443 'http://a' done"
    )
    assert str(SecretUrl("https://api.example/v1")) == "https://api.example/v1"
    assert str(SecretUrl("https://api.example/v1?k=1")) == "https://api.example"
    assert str(SecretUrl("unix:///run/valkey.sock")) == "unix:///run/valkey.sock"
