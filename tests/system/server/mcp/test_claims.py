"""JWT claims that are absent, of a wrong type, early and late."""

from __future__ import annotations

import time
from math import inf, nan
from typing import Any

import anyio
import pytest

from tests.support.patience import PATIENCE_S
from tests.system.server.mcp.issuing import AuthorizationServer, authorizing
from widgetd.server.access.auth import Access, Issuer
from widgetd.server.access.claims import SUBJECTS

ABSENT = object()
DAY_S = 86_400
WRONG_TYPES: tuple[Any, ...] = (None, True, "1", [], {}, nan, inf, -inf)

# Seconds relative to now are in a tuple of their own.
REFUSED: dict[str, tuple[Any, ...]] = {
    "exp": (ABSENT, *WRONG_TYPES, 10**12, 10**30, 10**400, (0,), (-1,), (-DAY_S,)),
    "nbf": (*WRONG_TYPES, (90,), (DAY_S,)),
    "iat": (*WRONG_TYPES, (90,), (DAY_S,)),
    "sub": (ABSENT, None, True, 1, "", [], {}, ["ada"]),
    "iss": (ABSENT, None, 1, "", "https://other.example", ["ISSUER"]),
    "aud": (ABSENT, None, 1, "", "other", [], ["other"], {"widgetd": 1}),
}
ACCEPTED: dict[str, tuple[Any, ...]] = {
    "exp": ((30,), (30.5,), 10**10),
    "nbf": (ABSENT, 0, (-DAY_S,), (0,), (30,)),
    "iat": (ABSENT, 0, (-DAY_S,), (0,), (30,)),
    "sub": ("ada", "a#b", " "),
    "aud": ("widgetd", ["other", "widgetd"]),
}


def claims_with(issuer: str, **changed: Any) -> dict[str, Any]:
    """Return good claims with some changed; a tuple of one number means seconds from now."""
    now = int(time.time())
    claims = {"iss": issuer, "aud": "widgetd", "sub": "ada", "exp": now + 600, **changed}
    return {
        name: now + value[0] if isinstance(value, tuple) else value
        for name, value in claims.items()
        if value is not ABSENT
    }


async def name_of(access: Access, server: AuthorizationServer, **changed: Any) -> str | None:
    bearer = await access.verify_token(server.sign(claims_with(server.url, **changed)))
    return None if bearer is None else bearer.principal.name.replace(server.url, "")


def access_to(server: AuthorizationServer) -> Access:
    issuer = Issuer(jwks=f"{server.url}/keys", issuer=server.url, audience="widgetd")
    return Access(file=None, start_token="", issuer=issuer)


async def test_each_claim_is_checked_absent_of_a_wrong_type_early_and_late() -> None:
    wrong = []
    with anyio.fail_after(3 * PATIENCE_S):
        async with authorizing() as server:
            access = access_to(server)
            for table, expected in ((REFUSED, False), (ACCEPTED, True)):
                for claim, values in table.items():
                    for value in values:
                        accepted = await name_of(access, server, **{claim: value}) is not None
                        if accepted != expected:
                            wrong.append((claim, value, accepted))

    assert wrong == []


@pytest.mark.parametrize(
    ("claims", "name"),
    [
        ({"sub": "ada", "client_id": "app", "azp": "page"}, "#ada"),
        ({"sub": ABSENT, "client_id": "app", "azp": "page"}, "client_id:#app"),
        ({"sub": ABSENT, "azp": "page"}, "azp:#page"),
        ({"sub": ABSENT}, None),
        ({"sub": 1, "client_id": "app"}, None),
        ({"sub": ABSENT, "client_id": ["app"]}, None),
    ],
)
async def test_principal_is_the_subject_else_the_client(
    claims: dict[str, Any], name: str | None
) -> None:
    with anyio.fail_after(PATIENCE_S):
        async with authorizing() as server:
            assert await name_of(access_to(server), server, **claims) == name


async def test_no_two_claims_name_the_same_principal() -> None:
    with anyio.fail_after(PATIENCE_S):
        async with authorizing() as server:
            access, names = access_to(server), set[str | None]()
            subjects = ("a", "client_id:a", "azp:a", "client_id#a", f"client_id:{server.url}#a")
            for claim in SUBJECTS:
                absent = {other: ABSENT for other in SUBJECTS if other != claim}
                for subject in subjects:
                    names.add(await name_of(access, server, **absent, **{claim: subject}))

    assert None not in names
    assert len(names) == len(SUBJECTS) * len(subjects)


SELECTIONS = ("widgets_include", "widgets_exclude")


@pytest.mark.parametrize("claim", SELECTIONS)
@pytest.mark.parametrize("value", [None, True, 1, "", " ", [], {}, [""], [1], ["a", None]])
async def test_selection_of_a_wrong_type_or_of_nothing_is_refused(claim: str, value: Any) -> None:
    with anyio.fail_after(PATIENCE_S):
        async with authorizing() as server:
            assert await name_of(access_to(server), server, **{claim: value}) is None


@pytest.mark.parametrize("value", [["travel", "chart"], "travel chart"])
async def test_claims_select_widgets_as_the_token_file_does(value: Any) -> None:
    with anyio.fail_after(PATIENCE_S):
        async with authorizing() as server:
            claims = claims_with(server.url, widgets_include=value, widgets_exclude=["draft"])
            bearer = await access_to(server).verify_token(server.sign(claims))

    assert bearer is not None
    assert bearer.principal.selection.include == {"travel", "chart"}
    assert bearer.principal.selection.exclude == {"draft"}
