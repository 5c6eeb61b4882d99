"""Secrets, as a type: values that no log, message or list of settings may repeat.

The types register what they hold, so that the log's last processor can remove it from anything,
a library's message or a traceback included.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import parse_qsl, quote, unquote, urlsplit

import pydantic

from widgetd.base.text_search import Match, compile_pattern

MIN_CHARS = 8
"""Length of a secret that is removed from texts; shorter ones occur by chance."""

MIN_PATH_CHARS = 16
"""Length from which a step of an address's path is a secret, as in webhook addresses."""

MAX_PLAIN_PATH_CHARS = 3
"""Length up to which a step of a path is no secret."""

MASK = "**********"

_ADDRESS = compile_pattern(r"://[^\s\"'<>]+")
_known: dict[str, int] = {}
_forms: tuple[str, ...] = ()


class Secret(pydantic.SecretStr):
    """A secret text, shown as asterisks."""

    def __init__(self, value: str) -> None:
        super().__init__(value)
        conceal(value)


class SecretUrl(pydantic.Secret[str]):
    """An address that may hold a password or a token, shown as its origin.

    A path of short steps, such as `/v1`, is shown with it.
    """

    def __init__(self, value: str) -> None:
        super().__init__(value)
        conceal_credentials(value)
        for step in value.partition("://")[2].partition("?")[0].split("/")[1:]:
            if len(step) >= MIN_PATH_CHARS:
                conceal(step)

    def _display(self) -> str:
        origin, address = origin_of(self.get_secret_value()), self.get_secret_value()
        path = address.removeprefix(origin)
        is_plain = all(len(step) <= MAX_PLAIN_PATH_CHARS for step in path.split("/"))
        return address if is_plain and not set(path) & set("?#") else origin


def conceal(value: str) -> None:
    """Remove `value` from every text that `redact` is given from now on."""
    if len(value) >= MIN_CHARS:
        _known[value] = _known.get(value, 0) + 1
        _rebuild()


def conceal_credentials(address: str) -> None:
    """Remove the password, its header and the query's values of `address` from every text."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    # HTTP sends both as one text.
    header = b64encode(f"{user}:{password}".encode()).decode() if password else ""
    for part in (parts.password or "", header, *(text for _, text in parse_qsl(parts.query))):
        conceal(part)


@contextmanager
def conceal_temporarily(value: str) -> Iterator[None]:
    """Remove `value` from every text that `redact` is given within the block."""
    conceal(value)
    try:
        yield
    finally:
        if _known.get(value, 0) > 1:
            _known[value] -= 1
        else:
            _known.pop(value, None)
        _rebuild()


def _rebuild() -> None:
    # A tuple that is replaced, for the log of another thread may be reading it.
    global _forms  # noqa: PLW0603 - one registry for all logs of the process
    forms = {
        form
        for value in _known
        for form in (value, json.dumps(value)[1:-1], repr(value)[1:-1], quote(value, safe=""))
    }
    _forms = tuple(sorted(forms, key=len, reverse=True))


def redact(text: str) -> str:
    """Return `text` without any known secret, as it is or as JSON, Python or an address has it."""
    for form in _forms:
        if form in text:
            text = text.replace(form, MASK)
    return text


def origin_of(address: str) -> str:
    """Return scheme, host and port of `address`, and of a Unix socket its path; else nothing."""
    scheme, separator, rest = address.partition("://")
    path = rest.partition("?")[0].partition("#")[0]
    authority, _, socket = path.partition("/")
    host = authority.rpartition("@")[2] or f"/{socket}"
    return f"{scheme}{separator}{host}" if separator else ""


def hide_credentials(text: str) -> str:
    """Return `text` with each address in it without user, password, query and fragment."""
    return _ADDRESS.sub(_without_credentials, text)


def _without_credentials(match: Match[str]) -> str:
    address = match[0].removeprefix("://").partition("?")[0].partition("#")[0]
    authority, slash, path = address.partition("/")
    return f"://{authority.rpartition('@')[2]}{slash}{path}"


def shorten_addresses(text: str) -> str:
    """Return `text` with each address in it cut to its origin."""
    return _ADDRESS.sub(lambda match: origin_of(match[0]), text)
