"""A sidecar that was written for a widget fits it."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from tests.support.widgets import build_widget, bundled_widgets, source, widget_file
from widgetd.author.commands.sidecar_template import sidecar_text
from widgetd.cli import main
from widgetd.core.widget.sidecar import Sidecar, read_sidecar
from widgetd.core.widget.widget import Widget
from widgetd.server.catalog.loader import load_widget


@pytest.mark.parametrize("widget", bundled_widgets(), ids=lambda widget: widget.tool)
def test_written_sidecar_fits_any_widget(widget: Widget) -> None:
    text = sidecar_text(widget)
    sidecar = tomllib.loads(text)

    assert sidecar["description"] == widget.description
    assert widget.schema.admits(sidecar["examples"][0]["arguments"])


def test_missing_description_is_reported_and_none_is_invented(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "Greeting.widget"
    file.write_text(widget_file())
    assert main(["check", str(file)]) == 0
    before = "W1116" in capsys.readouterr().out

    assert main(["new", "--sidecar", str(file)]) == 0
    capsys.readouterr()
    sidecar = tomllib.loads((tmp_path / "Greeting.widget.toml").read_text())
    assert main(["check", str(file)]) == 0

    assert before
    assert "W1116" in capsys.readouterr().out
    assert not {"description", "examples"} & sidecar.keys()


def test_studios_own_sample_is_the_example(tmp_path: Path) -> None:
    [flight] = [widget for widget in bundled_widgets() if widget.tool == "flight_tracker"]
    file = tmp_path / "Flight.widget"
    file.write_bytes(flight.definition.content)
    plain = load_widget(file)
    assert plain.definition.studio is not None

    [example] = tomllib.loads(sidecar_text(plain))["examples"]
    assert example["arguments"] == plain.definition.studio.default_state


def test_written_sidecar_has_every_key() -> None:
    text = re.sub(r"^# ([a-z_]+ = |\[)", r"\1", sidecar_text(build_widget()), flags=re.MULTILINE)

    keys = {field.alias or name for name, field in Sidecar.model_fields.items()}
    assert set(tomllib.loads(text)) == keys
    assert read_sidecar(source("Greeting.widget.toml", text)).min_client_version == "1.5.0"


def test_actions_of_a_widget_are_listed_for_description() -> None:
    [flight] = [widget for widget in bundled_widgets() if widget.tool == "flight_tracker"]

    assert '# [actions."flight.track"]\n# description = "…"\n' in sidecar_text(flight)


def test_sidecar_of_a_file_survives_a_new_export_over_it(tmp_path: Path) -> None:
    file = tmp_path / "Greeting.widget"
    file.write_text(widget_file())

    assert main(["new", "--sidecar", str(file)]) == 0
    sidecar = tmp_path / "Greeting.widget.toml"
    first, _, rest = sidecar.read_text().partition("\n")[2].partition("\n")
    assert first.startswith("# description = ")
    sidecar.write_text(f'description = "Greet somebody by name."\n{rest}')
    file.write_text(widget_file(text="Goodbye"))

    again = load_widget(file)
    assert again.description == "Greet somebody by name."
    assert again.summary.text({"who": "Ada"}) == "Greeting: who Ada"


def test_existing_sidecar_is_unchanged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "Greeting.widget"
    file.write_text(widget_file())
    sidecar = tmp_path / "Greeting.widget.toml"
    sidecar.write_text('title = "Mine"')

    assert main(["new", "--sidecar", str(file)]) == 2
    assert sidecar.read_text() == 'title = "Mine"'
    assert capsys.readouterr().err == (
        f"widgetd: {sidecar} is there already; edit that one, or move it away first [W0002]\n"
    )


def test_widget_without_required_scalars_has_a_summary() -> None:
    text = sidecar_text(build_widget(schema={"type": "object", "properties": {}}))

    assert tomllib.loads(text)["summary"] == "Greeting"
