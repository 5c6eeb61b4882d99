"""A file of bearer tokens becomes principals.

    # name   token                     scopes and, if need be, some widgets only
    ada      eyVdWPQGMuiYdYtkcE2wLA    widgets:read widgets:call
    kiosk    0oV2MPF0ZMnVUbL9fJSpJg    widgets:read widgets:call include=travel

A name may stand in several lines, so that a new token can be handed out before
the old one is taken away. Only digests of tokens are kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from hmac import compare_digest
from pathlib import Path

from widgetd.catalog.selection import Selection
from widgetd.errors import ConfigError, nearest
from widgetd.mcp.principal import CALL, READ, SCOPES, Principal

SHORTEST = 16
"""Characters; fewer can be guessed."""

DEFAULT_SCOPES = frozenset({READ, CALL})
"""What a token grants whose line says nothing."""


def digest(token: str) -> bytes:
    """Stands for a token, so that neither its text nor its length has to be compared."""
    return sha256(token.encode()).digest()


def find(granted: tuple[Principal, ...], token: str) -> Principal | None:
    """Who has `token`; takes the same time whichever it is, and however much of one is right."""
    wanted, found = digest(token), None
    for principal in granted:
        if compare_digest(principal.proof, wanted):
            found = principal
    return found


def read_grants(path: Path) -> tuple[Principal, ...]:
    """Whom the file at `path` lets in, one for each token.

    Raises:
        ConfigError: It cannot be read (W0006), or a line of it cannot be used (W0010).
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        problem = f"the token file {path} cannot be read ({error})"
        raise ConfigError("W0006", problem, "name another, or mend it", exit_code=3) from None
    grants = tuple(_grants(text))
    if not grants:
        raise ConfigError("W0010", f"the token file {path} grants nothing", "write a line")
    return grants


def _grants(text: str) -> Iterator[Principal]:
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if words and not words[0].startswith("#"):
            yield _grant(number, words)


def _grant(number: int, words: list[str]) -> Principal:
    if len(words) == 1:
        raise _unusable(number, "has no token", "write NAME TOKEN SCOPES")
    name, token, *grants = words
    if len(token) < SHORTEST:
        raise _unusable(number, "has a token that can be guessed", f"make it {SHORTEST} long")
    scopes = [word for word in grants if "=" not in word]
    for scope in scopes:
        if scope not in SCOPES:
            near = nearest(scope, tuple(sorted(SCOPES)))
            advice = f"did you mean {near}?" if near else f"write one of {' '.join(sorted(SCOPES))}"
            raise _unusable(number, f"grants {scope}, which is no scope", advice)
    return Principal(
        name=name,
        scopes=frozenset(scopes) or DEFAULT_SCOPES,
        selection=_selection(number, [word for word in grants if "=" in word]),
        proof=digest(token),
    )


def _selection(number: int, words: list[str]) -> Selection:
    chosen: dict[str, set[str]] = {"include": set(), "exclude": set()}
    for word in words:
        kind, _, marks = word.partition("=")
        if kind not in chosen or not marks:
            advice = "write include=TAG,NAME or exclude=TAG,NAME"
            raise _unusable(number, f"says {kind}=, which means nothing", advice)
        chosen[kind].update(marks.split(","))
    return Selection(include=frozenset(chosen["include"]), exclude=frozenset(chosen["exclude"]))


def _unusable(number: int, problem: str, advice: str) -> ConfigError:
    return ConfigError("W0010", f"line {number} of the token file {problem}", advice)
