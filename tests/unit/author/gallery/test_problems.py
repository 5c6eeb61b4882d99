"""Findings of the gallery about widgets, and those of `widgetd check`."""

from __future__ import annotations

from pathlib import Path

from tests.support.widgets import build_widget, widget_file
from widgetd.author.gallery.problems import Problems
from widgetd.cli.check import check_paths
from widgetd.core.checks.rules import check_widget
from widgetd.core.widget.theme import NO_THEME, Theme, read_folder_theme


async def test_check_and_gallery_read_colors_under_the_theme_of_the_folder(tmp_path: Path) -> None:
    text = '{"type":"Text","value":{{ who | tojson }},"color":"#767676"}'
    card = f'{{"type":"Card","children":[{text}]}}'
    toml = "[[examples]]\narguments = { who = 'Ada' }\n"
    (tmp_path / "Greeting.widget").write_text(widget_file(template=card))
    (tmp_path / "Greeting.widget.toml").write_text(toml)
    (tmp_path / "theme.toml").write_text('[light]\nbackground = "#fff7ed"\n')
    widget = build_widget(template=card, sidecar=toml)
    problems = Problems(tmp_path, check_widget)

    async def read(theme: Theme) -> list[str]:
        warnings = await problems.warnings(widget, theme)
        return [w.finding.problem for w in warnings if w.finding.code == "W1411"]

    checked = [f.problem for f in check_paths([tmp_path]).findings if f.code == "W1411"]
    before, after = await read(NO_THEME), await read(read_folder_theme(tmp_path))

    contrast = "the color '#767676' of a text has a contrast of"
    dark = f"{contrast} 2.9 : 1 in dark on the background #303030"
    assert before == [dark]
    assert checked == after == [f"{contrast} 4.3 : 1 in light on the background #fff7ed", dark]
