"""Deployment files conform to the formats of their readers and agree with one another."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml

from tests.field.deploy.documents import (
    KUBERNETES,
    MANIFESTS,
    ROOT,
    compose,
    compose_schema,
    document,
    instruction,
    instructions,
    manifest,
    pod,
)
from widgetd.daemon.limits import LIMITS
from widgetd.server.web.limits import LIMITS as WEB_LIMITS
from widgetd.settings import Settings, settle

UID = 10001
PORT = 8787
METRICS_PORT = 9464
OPERATORS_OWN = {"ServiceMonitor"}
OURS = ("widgetd", "widgetd-1", "widgetd-2", "preview", "widgetd-fed", "chat")


def container() -> dict[str, Any]:
    [only] = pod()["containers"]
    assert isinstance(only, dict)
    return only


def test_compose_yaml_conforms_to_the_compose_specification() -> None:
    validator = jsonschema_rs.validator_for(compose_schema(), offline=True)

    assert [str(error) for error in validator.iter_errors(compose())] == []


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.stem)
def test_each_manifest_conforms_to_kubernetes(path: Path) -> None:
    kubernetes = pytest.importorskip(
        "kubernetes_validate", reason="needs the package kubernetes-validate, which ships schemas"
    )
    found = document(path)
    if found["kind"] in OPERATORS_OWN:
        pytest.skip(f"Kubernetes itself does not know a {found['kind']}")

    kubernetes.validate(found, kubernetes.latest_version(), strict=True)


def test_service_monitor_scrapes_the_port_of_the_service() -> None:
    monitor, service = manifest("ServiceMonitor"), manifest("Service")
    [endpoint] = monitor["spec"]["endpoints"]

    assert monitor["apiVersion"] == "monitoring.coreos.com/v1"
    assert endpoint["port"] in {port["name"] for port in service["spec"]["ports"]}
    assert (
        monitor["spec"]["selector"]["matchLabels"].items() <= service["metadata"]["labels"].items()
    )


def test_kustomization_names_every_manifest_and_only_existing_files() -> None:
    found = document(KUBERNETES / "kustomization.yaml")

    assert sorted(found["resources"]) == [path.name for path in MANIFESTS]
    for generator in found["configMapGenerator"]:
        for name in generator["files"]:
            assert re.fullmatch(r"[-._a-zA-Z0-9]+", Path(name).name), "no key of a ConfigMap"
            assert (KUBERNETES / name).is_file()


def test_widget_in_the_manifests_is_json_and_its_sidecar_is_toml() -> None:
    widget = json.loads((KUBERNETES / "widgets" / "greeting.widget").read_text())
    sidecar = tomllib.loads((KUBERNETES / "widgets" / "greeting.widget.toml").read_text())

    assert widget["name"] == "greeting"
    assert set(sidecar) == {"description"}


def test_every_selector_finds_the_pods() -> None:
    labels = manifest("Deployment")["spec"]["template"]["metadata"]["labels"]

    for selector in (
        manifest("Deployment")["spec"]["selector"]["matchLabels"],
        manifest("Service")["spec"]["selector"],
        manifest("PodDisruptionBudget")["spec"]["selector"]["matchLabels"],
        manifest("NetworkPolicy")["spec"]["podSelector"]["matchLabels"],
        manifest("ServiceMonitor")["spec"]["selector"]["matchLabels"],
    ):
        assert selector.items() <= labels.items()


def test_changed_widget_reaches_running_pods_instead_of_starting_new_ones() -> None:
    options = document(KUBERNETES / "kustomization.yaml")["generatorOptions"]

    assert options["disableNameSuffixHash"] is True
    assert not any("subPath" in mount for mount in container()["volumeMounts"])


def test_all_agree_on_the_user() -> None:
    assert instruction("runtime", "USER") == f"{UID}:{UID}"
    assert instruction("preview", "USER") == f"{UID}:{UID}"
    assert pod()["securityContext"]["runAsUser"] == UID
    assert pod()["securityContext"]["fsGroup"] == UID


def test_all_agree_on_the_port() -> None:
    nginx = (ROOT / "deploy" / "nginx.conf").read_text()

    assert Settings.model_fields["port"].default == PORT
    assert instruction("runtime", "EXPOSE") == str(PORT)
    assert [port["containerPort"] for port in container()["ports"]] == [PORT, METRICS_PORT]
    assert [port["port"] for port in manifest("Service")["spec"]["ports"]] == [PORT, METRICS_PORT]
    assert set(re.findall(r"server widgetd-\d:(\d+)", nginx)) == {str(PORT)}
    for name in ("widgetd", "preview", "widgetd-fed", "chat"):
        [published] = compose()["services"][name]["ports"]
        assert published.startswith("127.0.0.1:")
        assert published.endswith(f":{PORT}")


def test_traefiks_labels_name_the_port_the_probe_and_hide_the_metrics() -> None:
    guide = (ROOT / "docs" / "operations" / "scale.md").read_text()
    [block] = re.findall(r"```yaml\n(labels:\n.*?)```", guide, re.DOTALL)
    labels = {
        name.rpartition(".")[2]: value for name, value in yaml.safe_load(block)["labels"].items()
    }

    assert labels["port"] == str(PORT)
    assert labels["path"] == container()["readinessProbe"]["httpGet"]["path"]
    assert labels["rule"].endswith("!Path(`/metrics`)")


def test_manifests_agree_on_the_widget_folder_and_mount_it_read_only() -> None:
    [mount] = [each for each in container()["volumeMounts"] if each["name"] == "widgets"]

    assert json.loads(instruction("runtime", "CMD")) == ["serve", "/widgets"]
    assert container()["args"] == ["serve", "/widgets"]
    assert (mount["mountPath"], mount["readOnly"]) == ("/widgets", True)
    for name in OURS:
        assert "./widgets:/widgets:ro" in compose()["services"][name]["volumes"]


def test_all_agree_on_where_state_is() -> None:
    mounts = {each["mountPath"] for each in container()["volumeMounts"]}
    volumes = compose()["services"]["widgetd"]["volumes"]
    unit = (ROOT / "systemd" / "widgetd.service").read_text()

    assert "install -d -o 10001 -g 10001 -m 0700 /var/lib/widgetd" in instruction("runtime", "RUN")
    assert variables_of_the_image()["WIDGETD_STATE_DIR"] == "/var/lib/widgetd"
    assert "/var/lib/widgetd" in mounts
    assert "state:/var/lib/widgetd" in volumes
    assert "\nStateDirectory=widgetd\n" in unit
    assert "\nEnvironment=WIDGETD_STATE_DIR=%S/widgetd\n" in unit


def test_no_container_can_write_its_root_or_hold_a_capability() -> None:
    context = container()["securityContext"]

    assert context == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    for name, service in compose()["services"].items():
        assert service["read_only"] is True, name
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name


def test_image_starts_its_program_without_a_shell_and_ends_on_sigterm() -> None:
    assert json.loads(instruction("runtime", "ENTRYPOINT")) == ["widgetd"]
    assert instruction("runtime", "STOPSIGNAL") == "SIGTERM"
    assert instruction("runtime", "HEALTHCHECK").endswith('CMD ["widgetd", "status"]')


def test_image_labels_describe_it() -> None:
    [labels] = [rest for word, rest in instructions("runtime") if word == "LABEL"]
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]

    for name in ("title", "description", "licenses", "version", "revision"):
        assert f"org.opencontainers.image.{name}=" in labels
    assert ("ARG", f"VERSION={version}") in instructions("runtime")
    assert container()["image"] == f"widgetd:{version}"


def dev_lock() -> str:
    return (ROOT / "requirements" / "dev.txt").read_text()


def test_every_package_in_the_image_is_pinned_by_its_hash() -> None:
    runs = [
        rest for stage in ("build", "shots") for word, rest in instructions(stage) if word == "RUN"
    ]
    installs = [run for run in runs if "pip" in run and " install " in run]

    assert all("--require-hashes" in run or "--no-deps" in run for run in installs)
    for extra in ("redis", "playwright", "greenlet"):
        assert re.search(rf"^{extra}==\S+ \\\n    --hash=sha256:", dev_lock(), re.MULTILINE)
    assert len(installs) == 3


def test_probes_request_existing_pages() -> None:
    assert container()["livenessProbe"]["httpGet"]["path"] == "/livez"
    assert container()["readinessProbe"]["httpGet"]["path"] == "/readyz"
    assert container()["startupProbe"]["httpGet"]["path"] == "/readyz"


def test_all_give_widgetd_time_to_end_before_they_kill_it() -> None:
    unit = (ROOT / "systemd" / "widgetd.service").read_text()
    [stop] = re.findall(r"^TimeoutStopSec=(\d+)s$", unit, re.MULTILINE)
    leaves_s = container()["lifecycle"]["preStop"]["sleep"]["seconds"]

    assert int(stop) > WEB_LIMITS.shutdown_s + LIMITS.webhook_drain_s
    assert pod()["terminationGracePeriodSeconds"] >= leaves_s + int(stop)
    assert compose()["services"]["widgetd"]["stop_grace_period"] == f"{stop}s"


def variables_of_the_image() -> dict[str, str]:
    return dict(re.findall(r"(WIDGETD_\w+)=(\S+)", instruction("runtime", "ENV")))


def test_chat_of_compose_needs_no_model_and_admits_its_token() -> None:
    variables = compose()["services"]["chat"]["environment"]
    chosen = {
        name: re.sub(r"\$\{\w+:-(\w+)\}", r"\1", value)
        for name, value in variables.items()
        if value
    }
    settings = settle({}, {**variables_of_the_image(), **chosen}).settings

    assert (settings.chat, settings.chat_model, settings.chat_key) == (True, "scripted", None)
    assert settings.generated_token


def variables() -> dict[str, str | None]:
    """Return each `WIDGETD_` variable that a file sets, and its value."""
    services = [service.get("environment", {}) for service in compose()["services"].values()]
    units = "".join(path.read_text() for path in (ROOT / "systemd").rglob("*.*"))
    settings = {
        **variables_of_the_image(),
        **{entry["name"]: entry["value"] for entry in container()["env"]},
        **{name: value for service in services for name, value in service.items()},
        **dict(re.findall(r"(WIDGETD_\w+)=(\S+)", units)),
    }
    return {name: value for name, value in settings.items() if name.startswith("WIDGETD_")}


@pytest.mark.parametrize("name", sorted(variables()))
def test_each_variable_in_a_file_is_a_setting_with_a_valid_value(name: str) -> None:
    value = variables()[name]
    # Without a value, Compose passes on whatever its own environment has.
    settle({}, {name: "any text" if value is None else value})
