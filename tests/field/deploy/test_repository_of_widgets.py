"""A repository of widgets uses the action and the pre-commit hook as their documentation says."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.field.deploy.documents import ROOT
from tests.field.deploy.test_release import git
from widgetd.author.browser.chromium import find_chromium

UV = shutil.which("uv")
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
STEPS = ACTION["runs"]["steps"]
BROKEN = '{"version": "1.0", "name": "Broken"'


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Return a clone with two commits: the second changes a widget, adds one and breaks one."""
    origin, clone = tmp_path / "origin", tmp_path / "clone"
    widgets = origin / "widgets"
    widgets.mkdir(parents=True)
    for name in ("Flight Tracker.widget", "Success Notice.widget"):
        shutil.copy(ROOT / "widgets" / name, widgets)
    git(origin, "init", "--quiet")
    git(origin, "add", "-A")
    git(origin, "commit", "--quiet", "-m", "First")
    flight = widgets / "Flight Tracker.widget"
    flight.write_text(flight.read_text().replace(r"\"size\":40", r"\"size\":64"))
    shutil.copy(ROOT / "widgets" / "Weather Current.widget", widgets)
    (widgets / "Broken.widget").write_text(BROKEN)
    git(origin, "add", "-A")
    git(origin, "commit", "--quiet", "-m", "Second")
    subprocess.run(["git", "clone", "--quiet", origin, clone], check=True, capture_output=True)
    return clone


def installer_environment() -> dict[str, str]:
    """Return the environment of a runner that may download packages."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("SSL_CERT_")}
    certificates = env.get("INSTALLER_CERT_FILE")
    return env | ({"SSL_CERT_FILE": certificates, "PIP_CERT": certificates} if certificates else {})


class Runner:
    """The `run:` steps of the action, in order, with the files of a workflow's runner."""

    def __init__(self, workspace: Path, temp: Path) -> None:
        self.workspace = workspace
        self.temp = temp
        self.summary = temp / "summary"
        self._env = temp / "env"
        self._path = temp / "path"
        temp.mkdir()
        for file in (self.summary, self._env, self._path):
            file.touch()

    def run(self, values: dict[str, str]) -> dict[str, subprocess.CompletedProcess[str]]:
        """Run every step, and return what each printed, by its name."""
        return {step["name"]: self._run_step(step, values) for step in STEPS if "run" in step}

    def _run_step(
        self, step: dict[str, object], values: dict[str, str]
    ) -> subprocess.CompletedProcess[str]:
        own = step.get("env", {})
        assert isinstance(own, dict)
        filled = {name: fill_in(text, values) for name, text in own.items()}
        earlier = dict(line.split("=", 1) for line in self._env.read_text().splitlines())
        path = os.pathsep.join([*self._path.read_text().splitlines(), os.environ["PATH"]])
        runner = {
            "RUNNER_TEMP": self.temp,
            "GITHUB_ACTION_PATH": ROOT,
            "GITHUB_ENV": self._env,
            "GITHUB_PATH": self._path,
            "GITHUB_STEP_SUMMARY": self.summary,
            "PATH": path,
        }
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", str(step["run"])],
            cwd=self.workspace,
            env=installer_environment() | earlier | filled | {k: str(v) for k, v in runner.items()},
            capture_output=True,
            text=True,
            check=False,
        )


def fill_in(text: str, values: dict[str, str]) -> str:
    """Evaluate `${{ a || b }}`: the first name with a value."""

    def choose(match: re.Match[str]) -> str:
        names = match[1].split(" || ")
        return next((values[name] for name in names if values.get(name)), "")

    return re.sub(r"\$\{\{ (.+?) \}\}", choose, text)


@pytest.mark.timeout(600)
@pytest.mark.skipif(find_chromium() is None, reason="needs Chromium")
def test_steps_of_the_action_annotate_summarise_and_draw(repository: Path, tmp_path: Path) -> None:
    runner = Runner(repository, tmp_path / "runner")
    defaults = {f"inputs.{name}": row["default"] for name, row in ACTION["inputs"].items()}
    base = subprocess.check_output(["git", "rev-parse", "HEAD~1"], cwd=repository, text=True)

    steps = runner.run(defaults | {"github.event.pull_request.base.sha": base.strip()})

    codes = {name: step.returncode for name, step in steps.items()}
    assert codes["Install widgetd"] == 0, steps["Install widgetd"].stderr
    assert codes["Fetch the base"] == 0, steps["Fetch the base"].stderr
    assert codes["Check"] == 1  # for Broken.widget
    assert "::error file=widgets/Broken.widget" in steps["Check"].stdout
    assert "passed" in steps["Test"].stdout, steps["Test"].stdout + steps["Test"].stderr
    draw = steps["Draw changed widgets"]
    assert draw.returncode == 0, draw.stdout + draw.stderr
    summary = runner.summary.read_text()
    assert "widgets/Broken.widget" in summary
    assert "| `flight_tracker-light.png` | changed |" in summary
    assert "| `weather_current-dark.png` | new |" in summary
    upload = STEPS[-1]
    assert re.fullmatch(r"actions/upload-artifact@[0-9a-f]{40}", upload["uses"])
    artifact = Path(fill_in(upload["with"]["path"], {"runner.temp": str(runner.temp)}))
    pictures = {str(path.relative_to(artifact)) for path in artifact.rglob("*.png")}
    assert {name for name in pictures if "-light" in name} == {
        "before/flight_tracker-light.png",
        "after/flight_tracker-light.png",
        "after/weather_current-light.png",
    }


@pytest.mark.timeout(600)
@pytest.mark.skipif(UV is None, reason="needs uv, which runs pre-commit")
def test_pre_commit_runs_the_hook_and_reports_the_broken_file_alone(
    repository: Path, tmp_path: Path
) -> None:
    options = ["widgetd-check", "--verbose", "--files", "widgets/Flight Tracker.widget"]
    tried = subprocess.run(
        [str(UV), "tool", "run", "pre-commit", "try-repo", str(ROOT), *options],
        cwd=repository,
        env=installer_environment() | {"PRE_COMMIT_HOME": str(tmp_path / "home")},
        capture_output=True,
        text=True,
        check=False,
    )

    assert tried.returncode == 1
    assert "widgets/Broken.widget:1:" in tried.stdout, tried.stdout
    assert "4 files: 1 fault" in tried.stdout
