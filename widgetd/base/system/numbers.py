"""Random numbers."""

from __future__ import annotations

import random
import secrets


class Numbers:
    """Tokens that cannot be guessed, and a fraction that spreads load."""

    token_hex = staticmethod(secrets.token_hex)
    token_urlsafe = staticmethod(secrets.token_urlsafe)
    token_bytes = staticmethod(secrets.token_bytes)
    fraction = staticmethod(random.random)
