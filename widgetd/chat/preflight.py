"""The chat's settings, and their checks before anything runs and any library is imported."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from widgetd.base.errors import ConfigError
from widgetd.base.redaction import Secret, SecretUrl

SCRIPTED = "scripted"
"""The name of the built-in model, which needs no endpoint."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatOptions:
    """The settings of this wing."""

    chat: bool
    chat_model: str
    chat_url: SecretUrl
    chat_key: Secret | None
    chat_instructions: Path | None
    chat_tools: Sequence[str]
    cors_origin: Sequence[str]


def require_key(model: str, url: str, *, has_key: bool) -> None:
    """Refuse a model of OpenAI's without a key. Other endpoints may need none.

    Raises:
        ConfigError: There is no key (W0012).
    """
    if model != SCRIPTED and urlsplit(url).hostname == "api.openai.com" and not has_key:
        raise ConfigError(
            "W0012",
            f"the model {model} at {url} needs a key",
            "set WIDGETD_CHAT_KEY, or name another --chat-url (OPENAI_* variables are not read)",
        )


def read_instructions(file: Path | None) -> str:
    """Return the operator's instructions for the agent, empty without a file.

    Raises:
        ConfigError: The file cannot be read (W0006).
    """
    try:
        return "" if file is None else file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        problem = f"the file {file} cannot be read ({error})"
        raise ConfigError("W0006", problem, "name another", exit_code=3) from None
