"""The files that say how widgetd is run, parsed."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[3]
KUBERNETES = ROOT / "deploy" / "kubernetes"
MANIFESTS = sorted(set(KUBERNETES.glob("*.yaml")) - {KUBERNETES / "kustomization.yaml"})


CLUSTERS = ROOT / ".venv-clusters" / "bin"
"""Programs that `make environments` installs: kubectl, and a Python with Helm."""

KUBECTL = shutil.which("kubectl") or shutil.which("kubectl", path=CLUSTERS)

needs_kubectl = pytest.mark.skipif(KUBECTL is None, reason="`make environments` has kubectl")


def build_overlay(name: str) -> list[dict[str, Any]]:
    """Build the objects of an overlay in `deploy/`."""
    assert KUBECTL is not None
    command = [KUBECTL, "kustomize", str(ROOT / "deploy" / name)]
    completed = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
    return list(yaml.safe_load_all(completed.stdout))


def require_valid(objects: Iterable[dict[str, Any]]) -> None:
    """Check that Kubernetes takes every object that it knows; skip without its schemas."""
    kubernetes = pytest.importorskip(
        "kubernetes_validate", reason="needs the package kubernetes-validate, which ships schemas"
    )
    for found in objects:
        if found["kind"] != "ServiceMonitor":
            kubernetes.validate(found, kubernetes.latest_version(), strict=True)


def document(path: Path) -> dict[str, Any]:
    """Return the one YAML document in a file."""
    found = yaml.safe_load(path.read_text())
    assert isinstance(found, dict)
    return found


def compose() -> dict[str, Any]:
    """`compose.yaml`, its anchors resolved."""
    return document(ROOT / "compose.yaml")


def manifest(kind: str) -> dict[str, Any]:
    """Return the one manifest of that kind."""
    [found] = [each for path in MANIFESTS if (each := document(path))["kind"] == kind]
    return found


def pod() -> dict[str, Any]:
    """Return the pod template of the Deployment."""
    spec: dict[str, Any] = manifest("Deployment")["spec"]["template"]["spec"]
    return spec


def instructions(stage: str) -> list[tuple[str, str]]:
    """Return the instructions of one stage of the Dockerfile: `[("USER", "10001:10001"), ...]`."""
    text = re.sub(r"^#.*\n", "", (ROOT / "Dockerfile").read_text(), flags=re.MULTILINE)
    lines = re.sub(r"\\\n", " ", text).splitlines()
    pairs = [(word, rest.strip()) for word, _, rest in (line.partition(" ") for line in lines)]
    heads = [index for index, (word, _) in enumerate(pairs) if word == "FROM"]
    for start, end in zip(heads, [*heads[1:], None], strict=True):
        if pairs[start][1].endswith(f" AS {stage}"):
            return pairs[start:end]
    raise LookupError(stage)


def instruction(stage: str, word: str) -> str:
    """Return the argument of the last such instruction of a stage."""
    return [rest for name, rest in instructions(stage) if name == word][-1]


def compose_schema() -> dict[str, Any]:
    """Return the JSON Schema of Compose from the package that ships it; skip without it."""
    package = importlib.util.find_spec("check_jsonschema")
    if package is None or package.origin is None:
        pytest.skip("needs the package check-jsonschema, which ships the Compose schema")
    vendored = Path(package.origin).parent / "builtin_schemas" / "vendor" / "compose-spec.json"
    schema: dict[str, Any] = json.loads(vendored.read_text())
    return schema
