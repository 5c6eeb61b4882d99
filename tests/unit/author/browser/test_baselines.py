"""Baselines of a test lie below its file."""

from __future__ import annotations

from pathlib import Path

import pytest

from widgetd.author.browser.baselines import Baselines
from widgetd.author.browser.keywords import find_keyword
from widgetd.base.errors import CallError


def test_baseline_is_written_and_read_below_the_test(tmp_path: Path) -> None:
    baselines = Baselines(home=tmp_path, prefix="pictures/A/acts", update=True)

    assert baselines.read("card", ".png") is None
    baselines.write("card", ".png", b"png")
    assert baselines.read("card", ".png") == b"png"
    assert (tmp_path / "pictures/A/acts-card.png").read_bytes() == b"png"


def test_missing_baseline_is_refused_unless_writing(tmp_path: Path) -> None:
    with pytest.raises(CallError) as raised:
        Baselines(home=tmp_path, prefix="pictures/A/acts").read("", ".png")

    assert str(raised.value) == "there is no acts.png to compare with; run --update"
    assert raised.value.code == "W4302"


@pytest.mark.parametrize("linked", ["pictures", "pictures/A"])
def test_baseline_folder_outside_the_project_is_neither_read_nor_written(
    linked: str, tmp_path: Path
) -> None:
    outside, home = tmp_path / "outside", tmp_path / "home"
    (outside / "A").mkdir(parents=True)
    (home / linked).parent.mkdir(parents=True)
    (home / linked).symlink_to(outside)
    baselines = Baselines(home=home, prefix="pictures/A/acts", update=True)

    with pytest.raises(CallError, match="it leads outside the folder"):
        baselines.write("", ".png", b"x")
    (outside / "acts.png").write_bytes(b"secret")
    (outside / "A" / "acts.png").write_bytes(b"secret")
    with pytest.raises(CallError, match="it leads outside the folder"):
        baselines.read("", ".png")
    assert {one.read_bytes() for one in outside.rglob("*.png")} == {b"secret"}


@pytest.mark.parametrize("name", ["/../../OUT", "a/b", "..\\b", "x" * 101])
def test_picture_name_cannot_be_a_path(name: str) -> None:
    with pytest.raises(CallError) as raised:
        find_keyword("Expect Picture").parse({"name": name})

    assert raised.value.code == "W4102"
