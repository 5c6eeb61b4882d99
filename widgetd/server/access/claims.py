"""Claims of a JWT, after its signature, issuer and audience are verified.

Source: RFC 7519, section 4.1; RFC 9068, section 2.2 (`client_id` of tokens without a user).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

LEEWAY_S = 60.0
"""How far an issuer's clock may be ahead."""

MAX_TIME_S = 1e11
"""In the year 5138. A larger number is a mistake, such as milliseconds."""

SUBJECTS = ("sub", "client_id", "azp")
"""Claims with the name of the principal, the most specific first."""


def principal_name(claims: Mapping[str, Any], now_s: float) -> str | None:
    """Return the name of the principal of `claims`, `now_s` seconds since the epoch.

    Returns:
        `ISS#SUB`, or `CLAIM:ISS#…` by another claim, so that no client is taken for the user of its
        name. None if the token is not valid at this time, never expires, has a claim of a wrong
        type or names no principal.
    """
    times = {claim: claims[claim] for claim in ("exp", "nbf", "iat") if claim in claims}
    if "exp" not in times or not all(map(_is_time, times.values())):
        return None
    exp = times.pop("exp")
    if exp <= now_s or any(time > now_s + LEEWAY_S for time in times.values()):
        return None
    # Without a name, all such tokens of an issuer would share renders, conversations and limits.
    claim = next((claim for claim in SUBJECTS if claim in claims), "")
    subject = claims.get(claim)
    if not isinstance(subject, str) or not subject:
        return None
    return f"{'' if claim == 'sub' else f'{claim}:'}{claims['iss']}#{subject}"


def selected_labels(claims: Mapping[str, Any], claim: str) -> frozenset[str] | None:
    """Return the tags and names of widgets in a claim: a list of texts, or a text with spaces.

    Returns:
        An empty set if the claim is absent. None if it is of a wrong type or selects nothing.
    """
    if claim not in claims:
        return frozenset()
    value = claims[claim]
    labels = value.split() if isinstance(value, str) else value
    # An empty selection must not be read as a selection of everything.
    if not isinstance(labels, list) or not labels:
        return None
    return frozenset(labels) if all(isinstance(text, str) and text for text in labels) else None


def _is_time(value: Any) -> bool:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_number and -MAX_TIME_S < value < MAX_TIME_S  # false for NaN
