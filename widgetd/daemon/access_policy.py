"""The access granted by settings: an address open to other machines needs a token.

The verification and the scopes of a token are decided elsewhere.
"""

from __future__ import annotations

import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from widgetd.base.errors import ConfigError
from widgetd.base.logs import get_logger
from widgetd.server.access.auth import Access, Issuer, is_loopback
from widgetd.server.access.principal import LOCAL, PUBLIC, UNAUTHENTICATED, Principal
from widgetd.settings import Settings

_log = get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessPolicy:
    """The access granted by settings.

    Attributes:
        access: Verifies tokens, None if none is needed.
        anonymous: The principal of a request without a token.
    """

    access: Access | None
    anonymous: Principal

    def set_base_url(self, settings: Settings, local: str) -> str:
        """Return the daemon's URL for clients, and publish its login there.

        Args:
            settings: The operator's.
            local: The URL on this machine.
        """
        url = settings.public_url or local
        if self.access is not None and (settings.public_url or is_loopback(settings.host)):
            self.access.set_base_url(url)
        elif settings.jwt_issuer and self.access is not None:
            # A host compares the published URL with its own, and stops if they differ.
            problem = "hosts cannot log in by themselves without widgetd's public URL"
            _log.warning("login.unpublished", problem=problem, advice="set --public-url")
        return url


def access_policy(settings: Settings) -> AccessPolicy:
    """Return the access granted by `settings`.

    Raises:
        ConfigError: Other machines reach the address and no token is set (W0009), or the tokens
            cannot be used.
    """
    if settings.transport == "stdio":
        return AccessPolicy(access=None, anonymous=LOCAL)
    issuer: Issuer | None = None
    jwks, named, audience = settings.jwt_jwks, settings.jwt_issuer, settings.jwt_audience
    if jwks and named and audience:
        algorithm = settings.jwt_algorithm
        issuer = Issuer(jwks=jwks, issuer=named, audience=audience, algorithm=algorithm)
    elif jwks or named or audience:
        problem = "--jwt-jwks, --jwt-issuer and --jwt-audience belong together"
        raise ConfigError("W0002", problem, "set all three, or none")
    if settings.token_file is not None or issuer is not None or settings.generated_token:
        if settings.token_file is not None:
            _warn_if_exposed(settings.token_file)
        access = Access(
            file=settings.token_file, start_token=settings.generated_token, issuer=issuer
        )
        return AccessPolicy(access=access, anonymous=UNAUTHENTICATED)
    if is_loopback(settings.host):
        return AccessPolicy(access=None, anonymous=LOCAL)
    if not settings.insecure:
        problem = f"other machines reach {settings.host}, and no token is set"
        advice = "name a file of tokens with --token-file, or admit every caller with --insecure"
        raise ConfigError("W0009", problem, advice)
    _log.warning(
        "access.opened", host=settings.host, problem="every caller is admitted, without a token"
    )
    return AccessPolicy(access=None, anonymous=PUBLIC)


def _warn_if_exposed(file: Path) -> None:
    with suppress(OSError):  # reading it will say what is wrong with it
        mode = stat.S_IMODE(file.stat().st_mode)
        if mode & stat.S_IROTH:
            problem = "every user of this machine can read the tokens"
            _log.warning("tokens.exposed", mode=f"{mode:o}", problem=problem, advice="chmod o= it")
