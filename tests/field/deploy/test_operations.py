"""Documents for operators name every metric, alert and setting, and no other."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from tests.field.deploy.documents import ROOT
from tests.field.deploy.scraping import scrape
from widgetd.base.errors import CODES
from widgetd.settings import GROUPS, Settings

PAGES = {
    path.stem: path.read_text() for path in sorted((ROOT / "docs" / "operations").glob("*.md"))
}
GUIDE = "".join(PAGES.values())
PROMTOOL = shutil.which("promtool")
needs_promtool = pytest.mark.skipif(
    PROMTOOL is None, reason="needs promtool, of Debian's package prometheus"
)
LABEL = re.compile(r"(\w+)\{(\w+)[=!]")


async def scrape_labels(folder: Path) -> dict[str, set[str]]:
    """Return the labels of each metric that a daemon exports."""
    families = list(text_string_to_metric_families(await scrape(folder)))
    return {sample.name: set(sample.labels) for one in families for sample in one.samples}


def section(page: str, title: str) -> str:
    return PAGES[page].split(f"\n## {title}\n")[1].split("\n## ")[0]


def test_reference_explains_exactly_the_settings_in_their_groups() -> None:
    page = (ROOT / "docs" / "reference" / "settings.md").read_text()

    groups = {
        title.lower(): re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)
        for title, text in re.findall(
            r"^## (\w+)\n(.*?)(?=^## |\Z)", page, re.DOTALL | re.MULTILINE
        )
    }
    assert groups == {group: list(names) for group, names in GROUPS.items()}
    assert {name for names in groups.values() for name in names} == Settings.model_fields.keys()


async def test_reference_explains_exactly_the_metrics(tmp_path: Path) -> None:
    # By their types, since a metric with labels has no sample before it is first counted.
    measured = set(re.findall(r"^# TYPE (widgetd_\w+)", await scrape(tmp_path), re.MULTILINE))
    page = (ROOT / "docs" / "reference" / "metrics.md").read_text()

    assert set(re.findall(r"^\| `(widgetd_\w+)`", page, re.MULTILINE)) == measured
    assert set(re.findall(r"`(widgetd_\w+)", PAGES["observe"])) <= measured


async def test_metrics_have_process_series_and_no_created_series(tmp_path: Path) -> None:
    names = set(await scrape_labels(tmp_path))

    assert {"process_cpu_seconds_total", "process_open_fds", "python_gc_collections_total"} <= names
    assert not any(name.endswith("_created") for name in names)


def test_guide_explains_exactly_the_log_events() -> None:
    sources = "".join(path.read_text() for path in (ROOT / "widgetd").rglob("*.py"))
    logged = set(
        re.findall(
            r'(?:(?:_log|news)(?:\(\))?\.\w+|ThrottledWarning|\blog)\(\s*"([a-z.]+)"', sources
        )
    ) | {"library.logged", "log.lost"}

    named = set(re.findall(r"`([a-z]+\.[a-z]+)`", section("observe", "The log")))
    assert named == logged


async def test_alerts_use_exported_metrics_and_labels(tmp_path: Path) -> None:
    metrics = await scrape_labels(tmp_path)
    rules = yaml.safe_load((ROOT / "deploy" / "alerts.yaml").read_text())["groups"][0]["rules"]
    names = {name for rule in rules for name in re.findall(r"widgetd_\w+", rule["expr"])}
    labelled = [pair for rule in rules for pair in LABEL.findall(rule["expr"])]

    assert names <= metrics.keys()
    assert [pair for pair in labelled if pair[1] not in metrics[pair[0]]] == []
    assert all(rule["annotations"]["description"] for rule in rules)


async def test_dashboard_has_a_panel_for_each_alert_and_uses_exported_metrics(
    tmp_path: Path,
) -> None:
    metrics = await scrape_labels(tmp_path)
    rules = yaml.safe_load((ROOT / "deploy" / "alerts.yaml").read_text())["groups"][0]["rules"]
    panels = json.loads((ROOT / "deploy" / "grafana" / "widgetd.json").read_text())["panels"]

    for rule in rules:
        [panel] = [one for one in panels if rule["alert"] in one["description"].split(", ")]
        expressions = " ".join(target["expr"] for target in panel["targets"])
        assert set(re.findall(r"widgetd_\w+", rule["expr"])) <= set(
            re.findall(r"widgetd_\w+", expressions)
        ), rule["alert"]
    panels_text = json.dumps(panels)
    assert set(re.findall(r"(?:widgetd|process)_\w+", panels_text)) <= metrics.keys()


@needs_promtool
@pytest.mark.parametrize(
    "arguments",
    [
        ("check", "rules", "alerts.yaml"),
        ("check", "config", "--syntax-only", "prometheus.yml"),
        ("test", "rules", "alerts.test.yaml"),
    ],
    ids=" ".join,
)
def test_prometheus_itself_finds_the_rules_good(arguments: tuple[str, ...]) -> None:
    ended = subprocess.run(
        [str(PROMTOOL), *arguments],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
        cwd=ROOT / "deploy",
    )

    assert ended.returncode == 0, ended.stdout + ended.stderr


@pytest.mark.parametrize("code", sorted(set(re.findall(r"W[0-5]\d{3}", GUIDE))))
def test_each_code_in_the_guide_is_one(code: str) -> None:
    assert code in CODES


@pytest.mark.parametrize("target", sorted(set(re.findall(r"\]\(([^)#]+)", GUIDE))))
def test_each_file_linked_from_the_guide_exists(target: str) -> None:
    assert target.startswith("https://") or (ROOT / "docs" / "operations" / target).exists()
