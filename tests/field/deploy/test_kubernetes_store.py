"""Documents that `kubectl apply -k deploy/kubernetes-store` sends: a deployment with a store."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.field.deploy.documents import (
    MANIFESTS,
    build_overlay,
    document,
    needs_kubectl,
    require_valid,
)

pytestmark = needs_kubectl


@pytest.fixture(scope="module")
def built() -> dict[tuple[str, str], Any]:
    """Return each object by its kind and name."""
    objects = build_overlay("kubernetes-store")
    return {(each["kind"], each["metadata"]["name"]): each for each in objects}


def container(built: dict[tuple[str, str], Any], name: str) -> Any:
    [only] = built["Deployment", name]["spec"]["template"]["spec"]["containers"]
    return only


def test_every_object_conforms_to_kubernetes(built: dict[tuple[str, str], Any]) -> None:
    require_valid(built.values())


def test_everything_without_a_store_is_there_with_one(built: dict[tuple[str, str], Any]) -> None:
    without = {(d["kind"], d["metadata"]["name"]) for d in map(document, MANIFESTS)}

    assert without <= built.keys()
    assert {each["metadata"]["namespace"] for each in built.values()} == {"widgetd"}


def test_only_replicas_reach_the_store(built: dict[tuple[str, str], Any]) -> None:
    variables = {each["name"]: each["value"] for each in container(built, "widgetd")["env"]}
    store = urlsplit(variables["WIDGETD_STORE"])
    service = built["Service", store.hostname or ""]["spec"]
    labels = built["Deployment", "widgetd-store"]["spec"]["template"]["metadata"]["labels"]
    [out, _names] = built["NetworkPolicy", "widgetd"]["spec"]["egress"]
    [into] = built["NetworkPolicy", "widgetd-store"]["spec"]["ingress"]

    assert service["ports"][0]["port"] == store.port == out["ports"][0]["port"]
    assert service["selector"] == labels == out["to"][0]["podSelector"]["matchLabels"]
    assert (
        into["from"][0]["podSelector"]["matchLabels"]
        == (built["Deployment", "widgetd"]["spec"]["selector"]["matchLabels"])
    )


def test_store_can_write_nothing_and_hold_no_capability(built: dict[tuple[str, str], Any]) -> None:
    assert container(built, "widgetd-store")["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
