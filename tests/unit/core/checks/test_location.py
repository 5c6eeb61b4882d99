"""Locations of findings in JSON, in a template inside it, and in a sidecar."""

from __future__ import annotations

import pytest

from tests.support.findings import location_of
from tests.support.widgets import build_widget
from widgetd.base.errors import Finding
from widgetd.core.checks.report import Location
from widgetd.core.checks.rules import check_widget

FILE = '{\n  "name": "Parcel",\n  "template": "{\\n  \\"type\\": {{ tpye }}\\n}"\n}\n'

SIDECAR = """\
description = "Where a parcel is. Use when the user asks for one."
summary_fields = ["who", "wher"]

[actions."parcel.track"]
description = "Follow it."

[[examples]]
name = "no name"
arguments = {}
"""


def make_finding(path: str, at: str, line: int | None = None, column: int | None = None) -> Finding:
    return Finding(code="W1301", path=path, at=at, problem="", advice="", line=line, column=column)


@pytest.mark.parametrize(
    ("finding", "location"),
    [
        (
            make_finding("a.widget", "/name"),
            Location(line=2, column=3, text='  "name": "Parcel",', text_column=3),
        ),
        (
            make_finding("a.widget", "/template", line=2, column=11),
            Location(line=3, column=3, text='  "type": {{ tpye }}', text_column=11),
        ),
        (
            make_finding("a.widget", "/template", line=2),
            Location(line=3, column=3, text='  "type": {{ tpye }}', text_column=3),
        ),
        (make_finding("a.widget", "/nowhere"), Location(line=1, column=1, text="{", text_column=1)),
        (
            make_finding("a.widget", "", line=9, column=4),
            Location(line=9, column=4, text="}", text_column=4),
        ),
    ],
)
def test_finding_points_into_the_file_or_its_template(finding: Finding, location: Location) -> None:
    assert location_of(finding, FILE) == location


def test_finding_about_a_schema_beside_jsx_points_at_its_line() -> None:
    jsx = """const schema = {
  properties: { who: { type: "string" } },
};
<Card/>"""

    at = location_of(make_finding("a.widget.jsx", "/jsonSchema/properties/who"), jsx)

    assert at is not None
    assert (at.line, at.column) == (2, 17)


def test_finding_about_an_empty_file_points_at_its_beginning() -> None:
    assert location_of(make_finding("a.widget", ""), "") == Location(
        line=1, column=1, text="", text_column=1
    )


def test_finding_about_a_sidecar_points_at_the_line_of_its_key() -> None:
    findings = [
        one for one in check_widget(build_widget(sidecar=SIDECAR)) if one.path.endswith(".toml")
    ]

    assert [(one.code, location_of(one, SIDECAR).line) for one in findings] == [
        ("W1213", 2),
        ("W1211", 9),
        ("W1214", 4),
    ]
    assert location_of(findings[0], SIDECAR) == Location(
        line=2, column=1, text='summary_fields = ["who", "wher"]', text_column=1
    )


def test_invalid_toml_sidecar_is_shown_at_its_error() -> None:
    finding = make_finding("a.widget.toml", "", line=2, column=9)

    assert location_of(finding, 'title = "a"\ntitle = Parcel\n') == Location(
        line=2, column=9, text="title = Parcel", text_column=9
    )
