"""Hold the committed view against its sources and against the installed chatkit."""

from __future__ import annotations

import gzip
import hashlib
import json
import subprocess
import sys
from pathlib import Path

VIEW = Path(__file__).resolve().parents[4] / "view"
BUILT = VIEW.parent / "widgetd" / "view"
MAX_GZIP_BYTES = 92 * 1024


def _seal() -> dict[str, object]:
    seal: dict[str, object] = json.loads((BUILT / "view.json").read_text())
    return seal


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def test_page_matches_its_checksum() -> None:
    page = (BUILT / "view.html").read_bytes()

    assert (_seal()["sha256"], _seal()["bytes"]) == (_sha256(page), len(page))


def test_page_was_built_from_the_present_sources() -> None:
    files = ["package-lock.json", "package.json", "palette.json", "view.html", "vocabulary.json"]
    files += ["vite.chat.config.ts", "vite.config.ts"]
    sources = [VIEW / name for name in files]
    sources += [path for room in ("plugins", "src") for path in (VIEW / room).rglob("*.*")]
    lines = {path.relative_to(VIEW).as_posix(): _sha256(path.read_bytes()) for path in sources}
    listed = "".join(f"{digest}  {name}\n" for name, digest in sorted(lines.items()))

    assert _seal()["source_sha256"] == _sha256(listed.encode()), "run `make view`"


def test_lock_names_exact_packages_and_no_registry() -> None:
    lock = json.loads((VIEW / "package-lock.json").read_text())
    packages = {name: one for name, one in lock["packages"].items() if name}

    assert all(one["version"] and one["integrity"] for one in packages.values())
    assert not any("resolved" in one for one in packages.values())


def test_page_stays_within_its_size() -> None:
    page = (BUILT / "view.html").read_bytes()

    assert len(gzip.compress(page, compresslevel=9)) <= MAX_GZIP_BYTES


def test_notices_name_every_package_in_the_page() -> None:
    notices = (BUILT / "NOTICES.txt").read_text()

    for package in ("preact", "d3-shape", "d3-path", "marked", "@openai/apps-sdk-ui"):
        assert f"\n{package} " in notices


def test_notices_name_every_package_in_the_editor() -> None:
    """The bundle itself is compared with its sources by `make view-check`."""
    folder = VIEW.parent / "widgetd" / "author" / "gallery" / "editor"
    notices, script = (folder / "editor.txt").read_text(), (folder / "editor.js").read_bytes()
    declared = json.loads((VIEW / "package.json").read_text())["dependencies"]

    for package in ("crelt", "style-mod", "w3c-keyname", *declared):
        if package not in {"preact", "d3-shape", "marked"}:
            assert f"\n{package} " in notices
    assert len(gzip.compress(script, compresslevel=9)) <= 180_000


def test_view_is_compared_with_the_installed_chatkit() -> None:
    command = [sys.executable, "-W", "ignore", str(VIEW / "vocabulary.py")]
    declared = subprocess.run(command, check=True, capture_output=True, text=True).stdout

    assert (VIEW / "vocabulary.json").read_text() == declared


def test_documented_defaults_are_those_of_the_view() -> None:
    command = [sys.executable, str(VIEW / "defaults.py")]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout

    assert (VIEW.parent / "widgetd" / "view" / "defaults.json").read_text() == output
