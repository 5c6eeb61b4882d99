"""A file becomes a widget where it can be drawn, and only there; `check` says the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.corpus import corpus_files
from tests.support.examples import examples
from tests.support.spoiling import spoilt_files
from tests.support.widgets import widget_file
from tests.unit.core.template.test_prices import START, STATEMENTS
from widgetd.base.errors import CallError, Finding, WidgetError
from widgetd.base.files.source import Source
from widgetd.core.checks.renders import render_samples
from widgetd.core.checks.rules import check_widget
from widgetd.core.widget.widget import Widget
from widgetd.server.catalog.catalog import Catalog
from widgetd.server.catalog.loader import Loader
from widgetd.server.catalog.loader import load as load_file
from widgetd.server.render.entry import tool_entry

WIDGETS = Path(__file__).parents[4] / "widgets"
BAD = sorted((Path(__file__).parents[3] / "widgets" / "bad").glob("*.widget"))
GOOD = [path.read_bytes() for path in (*sorted(WIDGETS.glob("*.widget")), *corpus_files())]

NEVER_DRAWN = {
    "the last brace is missing": ('{"type":"Card","children":[]', 29),
    "it divides by zero": ('{"type":"Card","value":{{ 1 // 0 }}}', 27),
    "it ends in a comma": ('{"type":"Card","value":{{ who | tojson }},', 43),
    "a value is unquoted": ('{"type":"Card","a":{{ who | tojson }},"value":none}', 47),
    "a key is computed": ('{"type":"Card","a"}}:1,"b":{{ who == "x" }}}', 19),
    "it is no object": ("{{ who | tojson }}", None),
    "its root is none": ('{"type":"{{ who }}"}', None),
    "it never ends": (
        "{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}",
        39,
    ),
}
"""Templates that parse, and draw nothing whatever they are given; the column that is at fault."""


def load(content: bytes, sidecar: Source | None = None, *, path: str = "a.widget") -> Widget:
    return Loader(tool_entry, keeps_parts=True).load(Source.of(path, content), sidecar)


@pytest.mark.parametrize(("template", "column"), NEVER_DRAWN.values(), ids=NEVER_DRAWN)
def test_undrawable_widget_is_refused_and_the_last_good_version_stays(
    template: str, column: int | None, tmp_path: Path
) -> None:
    file = tmp_path / "Greeting.widget"
    catalog = Catalog(tmp_path, Loader(tool_entry).load, quiet_ms=0)
    file.write_text(widget_file())
    good = catalog.scan().widgets["greeting"]

    file.write_text(widget_file(template=template))
    snapshot = catalog.scan(["Greeting.widget"])

    fault = snapshot.entries["Greeting.widget"].fault
    assert fault is not None
    assert (fault.path, fault.at) == ("Greeting.widget", "/template")
    assert fault.column == column
    assert "fails on any arguments" in fault.problem
    assert snapshot.widgets["greeting"] is good
    assert good.call({"who": "Ada"}).tree["type"] == "Card"

    file.write_text(widget_file(template="{{ nothing"))
    assert catalog.scan(["Greeting.widget"]).widgets["greeting"] is good


@pytest.mark.parametrize("template", [one for one, _ in NEVER_DRAWN.values()], ids=NEVER_DRAWN)
def test_one_drawable_sample_is_enough_to_be_served(template: str) -> None:
    sometimes = f'{{% if who == "x" %}}{{"type":"Card"}}{{% else %}}{template}{{% endif %}}'
    sidecar = b'[[examples]]\nname = "x"\narguments = { who = "x" }\n'
    file = widget_file(template=sometimes).encode()

    widget = load(file, Source.of("a.widget.toml", sidecar))

    assert widget.call({"who": "x"}).tree == {"type": "Card"}
    with pytest.raises(CallError):
        widget.call({"who": "y"})
    findings = [finding for finding in check_widget(widget) if finding.code == "W1322"]
    assert findings
    assert all("the required fields only" in finding.problem for finding in findings[:1])


def faults(
    content: bytes, sidecar: Source | None = None, *, path: str = "a.widget"
) -> list[Finding]:
    """Return the reason why a file is not served, or the faults of a check if it is."""
    try:
        widget = load(content, sidecar, path=path)
    except WidgetError as error:
        return [error.finding]
    assert [str(one) for one in check_widget(widget) if one.level == "fault"] == []
    return []


@examples(50)
@given(spoilt_files(GOOD))
def test_served_widgets_have_no_faults(content: bytes) -> None:
    assert all(fault.level == "fault" for fault in faults(content))


@examples(40)
@given(STATEMENTS, st.sampled_from(['"x"', "{{ who | tojson }}", "{{ n.d | tojson }}", "{{ t }}"]))
def test_served_generated_templates_have_no_faults(statements: str, value: str) -> None:
    template = f'{{"type":"Card","children":[{{"type":"Text","value":{value}}}]}}'
    content = widget_file(template=f"{START}{statements}{template}").encode()

    assert all(fault.level == "fault" for fault in faults(content))


@pytest.mark.parametrize("path", BAD, ids=lambda path: path.stem)
def test_bad_widget_is_refused_with_the_message_of_a_check(path: Path) -> None:
    sidecar = path.with_name(path.name + ".toml")
    beside = Source.of(sidecar.name, sidecar.read_bytes()) if sidecar.exists() else None

    messages = [f"{one.code} {one}\n" for one in faults(path.read_bytes(), beside, path=path.name)]

    assert messages in ([], [path.with_suffix(".txt").read_text(encoding="utf-8")])


def test_template_that_exhausts_its_budget_is_not_drawn_with_further_samples() -> None:
    endless = widget_file(template=NEVER_DRAWN["it never ends"][0]).encode()
    widget = load_file(Source.of("a.widget", endless))

    assert [outcome.exhausted for outcome in render_samples(widget)] == [True, True, True]
