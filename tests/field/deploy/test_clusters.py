"""The chart sends what deploy/kubernetes sends, with the operator's values written into it."""

from __future__ import annotations

import json
import subprocess
import tomllib
from collections.abc import Mapping
from typing import Any

import pytest
import yaml

from tests.field.deploy.documents import (
    CLUSTERS,
    MANIFESTS,
    ROOT,
    build_overlay,
    document,
    needs_kubectl,
    require_valid,
)

CHART = ROOT / "deploy" / "chart"
PYTHON = CLUSTERS / "python"
RENDER = """
import json, sys
import helm_python
chart, values = sys.argv[1], json.loads(sys.argv[2])
errors = helm_python.lint(chart, values, strict=True)["errors"]
rendered = helm_python.Chart.load(chart).render(values, name="one", namespace="apart")
print(json.dumps([errors, rendered]))
"""

needs_helm = pytest.mark.skipif(
    not PYTHON.exists(), reason="needs Helm, which `make environments` installs"
)


def render_chart(values: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Lint and render the chart, and return each object by its kind."""
    command = [str(PYTHON), "-c", RENDER, str(CHART), json.dumps(values)]
    ran = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
    errors, files = json.loads(ran.stdout.splitlines()[-1])
    assert errors == []
    [text] = files.values()
    return {one["kind"]: one for one in yaml.safe_load_all(text) if one}


@needs_helm
def test_chart_sends_the_objects_of_the_manifests() -> None:
    objects = render_chart({"without": []})

    require_valid(objects.values())
    assert objects.keys() == {document(path)["kind"] for path in MANIFESTS} | {"ConfigMap"}
    for path in MANIFESTS:
        expected = document(path)
        if expected["kind"] != "Deployment":
            assert objects[expected["kind"]]["spec"] == expected["spec"]
    widgets = {path.name for path in (ROOT / "deploy/kubernetes/widgets").iterdir()}
    assert objects["ConfigMap"]["data"].keys() == widgets


@needs_helm
@pytest.mark.parametrize("values", [{"imgae": "widgetd:1"}, {"without": ["monitors"]}])
def test_chart_refuses_values_that_its_schema_does_not_know(values: Mapping[str, Any]) -> None:
    with pytest.raises(subprocess.CalledProcessError):
        render_chart(values)


@needs_helm
def test_chart_writes_the_values_into_the_deployment_alone() -> None:
    values = {
        "image": "registry.example.com/widgetd:1",
        "widgets": "ours",
        "tokens": "keys",
        "env": {"WIDGETD_RATE": 5, "WIDGETD_METRICS_PORT": 9999},
        "without": ["autoscaler", "monitor", "network", "disruption"],
    }

    objects = render_chart(values)

    require_valid(objects.values())
    assert objects.keys() == {"Deployment", "Service"}
    spec = objects["Deployment"]["spec"]
    [container] = spec["template"]["spec"]["containers"]
    variables = {each["name"]: each["value"] for each in container["env"]}
    volumes = {each["name"]: each for each in spec["template"]["spec"]["volumes"]}
    assert spec["replicas"] == 2
    assert container["image"] == values["image"]
    assert variables["WIDGETD_RATE"] == "5"
    assert variables["WIDGETD_METRICS_PORT"] == "9999"
    assert variables["WIDGETD_ALLOWED_HOST"].startswith("widgetd,widgetd.apart,widgetd.apart.svc,")
    assert volumes["widgets"]["configMap"]["name"] == "ours"
    assert volumes["tokens"]["secret"]["secretName"] == "keys"


def test_chart_has_the_version_of_the_package() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    chart, values = document(CHART / "Chart.yaml"), document(CHART / "values.yaml")

    assert (chart["version"], chart["appVersion"]) == (version, version)
    assert values["image"] == f"widgetd:{version}"


@needs_kubectl
def test_kubernetes_takes_every_object_of_the_plain_overlay() -> None:
    require_valid(build_overlay("kubernetes"))
