"""The wheel is complete: in an empty environment it serves, answers and takes pictures.

With SCALE=2 on every Python that the machine has, else on the one that runs the suite.
"""

from __future__ import annotations

import email
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path

import anyio
import pytest
from mcp_types import TextResourceContents

from tests.field.deploy.documents import ROOT
from tests.support.clients import connect_client
from tests.support.examples import SCALE
from tests.support.patience import PATIENCE_S
from tests.support.processes import daemon_process
from tests.system.server.web.asking import ask
from widgetd.author.browser.chromium import find_chromium

UV = shutil.which("uv")
EVERY_PYTHON = SCALE > 1
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
BUNDLE = ROOT / "build" / f"widgetd-{VERSION}.mcpb"


def interpreters() -> Iterator[str]:
    """Yield one interpreter of each installed Python release that widgetd supports."""
    yield sys.executable
    if not EVERY_PYTHON:
        return
    versions = {sys.version_info[:2]}
    installed = sorted(Path.home().glob(".pyenv/versions/3.1*/bin/python"))
    for one in (*(f"python3.{minor}" for minor in range(11, 20)), *map(str, installed)):
        try:
            output = subprocess.run(
                [one, "-c", "import sys; print(*sys.version_info[:2])"],
                capture_output=True,
                text=True,
                check=True,
            ).stdout.split()
        except (OSError, subprocess.CalledProcessError):  # a version manager's shim may not run
            continue
        release = int(output[0]), int(output[1])
        if release >= (3, 11) and release not in versions:
            versions.add(release)
            yield one


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (file,) = folder.iterdir()
    return file


def pinned(wheel: Path) -> str:
    """Return the requirements with hashes: the lock's, the browser driver and the wheel."""
    lock = (ROOT / "requirements" / "runtime.txt").read_text()
    dev = (ROOT / "requirements" / "dev.txt").read_text()
    for name in ("greenlet", "playwright", "pyee"):
        if not re.search(rf"^{name}==", lock, re.MULTILINE):
            lock += "".join(re.findall(rf"^{name}==.*\n(?:    .*\n)+", dev, re.MULTILINE))
    digest = sha256(wheel.read_bytes()).hexdigest()
    return f"{lock}widgetd @ {wheel.as_uri()} --hash=sha256:{digest}\n"


def installed(python: str, wheel: Path, folder: Path) -> Path:
    """Return the `bin` of an environment with only the wheel and its dependencies."""
    listed = folder / "requirements.txt"
    listed.write_text(pinned(wheel))
    place = folder / "environment"
    subprocess.run([python, "-m", "venv", *(["--without-pip"] if UV else []), place], check=True)
    inside = str(place / "bin" / "python")
    install = [inside, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    if UV:
        install = [UV, "pip", "install", "--quiet", "--python", inside]
    run_installer([*install, "--no-deps", "--require-hashes", "-r", str(listed)])
    return place / "bin"


def run_installer(command: list[str], **more: str) -> str:
    """Run a command that downloads packages, and return what it prints."""
    certificates = os.environ["INSTALLER_CERT_FILE"]
    env = {name: value for name, value in os.environ.items() if not name.startswith("SSL_CERT_")}
    env |= {"SSL_CERT_FILE": certificates} if certificates else {}
    ran = subprocess.run(command, env=env | more, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def install_by_pip(python: str, wheel: Path, place: Path) -> list[str]:
    run_installer([python, "-m", "venv", str(place)])
    run_installer([str(place / "bin" / "pip"), "install", "--quiet", str(wheel)])
    return [str(place / "bin" / "widgetd")]


def install_by_pipx(python: str, wheel: Path, place: Path) -> list[str]:
    homes = {"PIPX_HOME": str(place / "home"), "PIPX_BIN_DIR": str(place / "bin")}
    install = ["tool", "run", "pipx", "install", "--python", python, str(wheel)]
    run_installer([str(UV), *install], **homes)
    return [str(place / "bin" / "widgetd")]


def install_by_uvx(python: str, wheel: Path, _place: Path) -> list[str]:
    return [str(UV), "tool", "run", "--python", python, "--from", str(wheel), "widgetd"]


def test_package_page_has_absolute_links_and_addresses(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        [name] = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        metadata = email.message_from_bytes(archive.read(name))
    text = str(metadata.get_payload())
    released = "https://github.com/widgetd/widgetd/{}/v" + VERSION

    links = re.findall(r"(!?)\[[^\]]*\]\(([^)]+)\)", text)
    assert [link for _, link in links if not link.startswith(("https://", "#"))] == []
    for picture, link in links:
        if link.startswith("https://github.com/widgetd/"):
            folder = released.format("raw" if picture else "blob")
            assert link.startswith(f"{folder}/"), link
            assert (ROOT / link.removeprefix(f"{folder}/").partition("#")[0]).exists(), link
    assert len([link for picture, link in links if picture]) == 2
    addresses = dict(line.split(", ") for line in metadata.get_all("Project-URL", []))
    assert addresses.keys() == {"Source", "Documentation", "Changelog", "Issues"}
    assert metadata["Author"]
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert "Programming Language :: Python :: 3.14" in metadata.get_all("Classifier", [])


def test_build_tools_are_in_no_runtime_lock() -> None:
    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]["build"]
    runtime = (ROOT / "requirements" / "runtime.txt").read_text()

    assert re.findall(rf"^({'|'.join(build)}|trove-classifiers)==", runtime, re.MULTILINE) == []


@pytest.fixture(params=sorted(interpreters()))
def environment(request: pytest.FixtureRequest, wheel: Path, tmp_path: Path) -> Path:
    return installed(request.param, wheel, tmp_path)


async def read_output(*command: str | Path) -> str:
    """Run a command of the environment and return its output."""
    with anyio.fail_after(PATIENCE_S):
        return (await anyio.run_process(list(map(str, command)))).stdout.decode()


@pytest.mark.timeout(600)
async def test_wheel_alone_serves_answers_and_takes_pictures(
    environment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.chdir(empty)  # no checkout beside it, and no folder of widgets
    monkeypatch.delenv("PYTHONPATH", raising=False)
    python, widgetd = environment / "python", environment / "widgetd"

    command = "from widgetd.base.files.folder import bundled_folder; print(bundled_folder())"
    shipped = await read_output(python, "-c", command)
    assert shipped.startswith(str(environment.parent))
    assert "actions" in await read_output(widgetd, "guide")
    folder, program = Path(shipped.strip()), (str(python), "-m", "widgetd")
    async with (
        daemon_process(folder, "--gallery", program=program) as served,
        connect_client(served.url, "modern") as agent,
    ):
        result = await agent.call(
            "success_notice", operation="booking.create", title="Saved", message="It is."
        )
        page = await agent.client.read_resource("ui://widgetd/success_notice.html")
        gallery = (await ask(served.url, "/")).text
    assert "27 widgets" in served.greeting
    assert "Saved" in json.dumps(result.structured_content)
    assert isinstance(page.contents[0], TextResourceContents)
    assert "<script" in page.contents[0].text
    assert "success_notice" in gallery

    if find_chromium() is not None:
        await read_output(widgetd, "shot", "success_notice", "--output", "seen.png")
        assert (empty / "seen.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.timeout(600)
@pytest.mark.skipif(not EVERY_PYTHON, reason="SCALE=2 does it, with what is newest today")
@pytest.mark.parametrize("install", [install_by_pip, install_by_pipx, install_by_uvx])
@pytest.mark.parametrize("python", sorted(interpreters()))
def test_installers_run_the_wheel_with_the_newest_of_its_dependencies(
    python: str,
    install: Callable[[str, Path, Path], list[str]],
    wheel: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if install is not install_by_pip and UV is None:
        pytest.skip("needs uv, which runs pipx too")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONPATH", raising=False)

    widgetd = install(python, wheel, tmp_path / "place")

    assert run_installer([*widgetd, "--version"]).strip() == VERSION
    assert len(run_installer([*widgetd, "list"]).splitlines()) == 27


@pytest.mark.skipif(not BUNDLE.exists() or UV is None, reason="`make mcpb` packs the bundle, by uv")
def test_bundle_runs_the_versions_of_the_lock(tmp_path: Path) -> None:
    shutil.unpack_archive(BUNDLE, tmp_path, "zip")
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    arguments = [
        one.replace("${__dirname}", str(tmp_path))
        for one in manifest["server"]["mcp_config"]["args"]
    ]
    command = arguments[: arguments.index("widgetd")]
    locked = tomllib.loads((tmp_path / "uv.lock").read_text())["package"]
    pins = re.findall(
        r"^([a-z0-9._-]+)==(\S+)", (ROOT / "requirements" / "runtime.txt").read_text(), re.MULTILINE
    )

    assert run_installer([str(UV), *command, "widgetd", "--version"]).strip() == VERSION
    versions = {one["name"]: one["version"] for one in locked if one["name"] in dict(pins)}
    assert versions.items() <= set(pins)
    assert {"fastmcp", "mcp", "pydantic"} <= versions.keys()
