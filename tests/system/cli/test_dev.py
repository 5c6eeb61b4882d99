"""`widgetd dev` is set for one person on this machine, but for what they say themselves."""

from __future__ import annotations

from pathlib import Path

import pytest

from widgetd.cli.options import Flags
from widgetd.cli.serve import DEV_TOOLSETS, of_dev
from widgetd.settings import bundled


def test_files_may_be_dropped_where_only_this_machine_reaches_the_gallery(tmp_path: Path) -> None:
    usual = of_dev(tmp_path, Flags())

    assert (usual.gallery, usual.allow_upload, usual.toolset) == (True, True, DEV_TOOLSETS)
    assert not of_dev(tmp_path, Flags(host="0.0.0.0", insecure=True)).allow_upload
    assert not of_dev(bundled(), Flags()).allow_upload


def test_what_was_said_of_uploads_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WIDGETD_ALLOW_UPLOAD", "false")
    monkeypatch.setenv("WIDGETD_TOOLSET", "operate")

    settings = of_dev(tmp_path, Flags())

    assert (settings.allow_upload, settings.toolset) == (False, ("operate",))
