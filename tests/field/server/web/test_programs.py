"""Programs of pages draw what the server draws, for bundled widgets and the corpus."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.page import drawn, print_prefixes
from tests.support.widgets import widget_file

ROOT = Path(__file__).parents[4]
LIMIT_S = 580

needs_node = pytest.mark.skipif(
    not (ROOT / "view" / "node_modules").is_dir(),
    reason="`make view-check` installs what runs the page's programs, where Node is",
)


@needs_node
@pytest.mark.timeout(600)
def test_page_draws_the_servers_trees_and_loses_few_texts_while_arguments_arrive() -> None:
    command = [sys.executable, "-m", "benchmarks.page"]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=LIMIT_S, check=False
    )

    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    assert "arguments: equal" in done.stdout


JSX = """\
<Card>
WHOLE
{rows.map((row, at) => <Text value={`${at}: ${row.name}`} />)}
</Card>
"""
WHOLE_IN_JSX = (
    """{rows.length === 0 && <Text value="Nothing yet" />}""",
    """<Text value={rows.some((row) => row.n > 4) ? "One is large" : "All are small"} />""",
    """<Text value={rows.every((row) => row.n > 0) ? "All count" : "One is nothing"} />""",
    """<Text value={`${rows.filter((row) => row.n > 1).length} of ${rows.length}`} />""",
    """<Text value={`Sum ${rows.reduce((sum, row) => sum + row.n, 0)}`} />""",
    """<Text value={rows.map((row) => row.name).join(", ") || "No names"} />""",
    """<Text value={rows[rows.length - 1]?.name ?? "No last"} />""",
    """<Text value={rows.slice(-1)[0]?.name ?? "No last"} />""",
    """<Text value={[...rows].sort((a, b) => b.n - a.n)[0]?.name ?? "No first"} />""",
    """<Text value={rows.find((row) => row.n === 9)?.name ?? "No nine"} />""",
    """<Text value={rows.map((row) => row.n).includes(9) ? "Nine" : "No nine"} />""",
    """<Text value={title === "Very long names" ? "Is it" : "Is it not"} />""",
    """<Text value={title.length > 9 ? "Is long" : "Is short"} />""",
    """<Text value={{ count: rows.length }.count > 2 ? "Many" : "Few"} />""",
    """<Text value={`${title.split(" ").map((word) => word[0]).join("")} of ${title}.`} />""",
    """<Text value={Object.keys(sizes).length > 1 ? "Sizes" : "One size"} />""",
)
JINJA = (
    '{"type":"Card","children":[WHOLE{% for row in rows %},{"type":"Text",'
    '"value":{{ (loop.index ~ ": " ~ row.name)|tojson }}}{% endfor %}]}'
)
WHOLE_IN_JINJA = (
    '{{ ("Many" if rows|length > 2 else "Few")|tojson }}',
    '{{ ("Some" if rows else "None")|tojson }}',
    '{{ (rows[-1].name or "No last")|tojson }}',
    '{{ ("Two" if "Very long names" in [title] else "Other")|tojson }}',
    "{% set s = namespace(n=0) %}{% for r in rows %}{% set s.n = s.n + r.n %}{% endfor %}{{ s.n }}",
    '{% set word = "None" %}{% if rows|length > 1 %}{% set word = "Some" %}{% endif %}"{{ word }}"',
    '"{{ title }} of {{ rows|length }}"',
    '"{% for row in rows %}{{ row.name if loop.last else loop.index }}, {% endfor %}"',
)
ARGUMENTS = {
    "title": "Very long names",
    "sizes": {"small": 1, "large": 2},
    "rows": [{"name": f"Name number {n}", "n": n} for n in (1, 3, 9)],
}
ROW = {"type": "object", "properties": {"name": {"type": "string"}, "n": {"type": "integer"}}}
SCHEMA = {
    "type": "object",
    "properties": {
        "title": {"type": "string"},
        "sizes": {"type": "object"},
        "rows": {"type": "array", "items": ROW},
    },
    "required": ["title", "sizes", "rows"],
}


@needs_node
def test_no_text_is_shown_while_arguments_arrive_that_the_complete_call_does_not_show(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    schema = f"const schema = {json.dumps(SCHEMA)};\nconst sample = {json.dumps(ARGUMENTS)};\n"
    for at, whole in enumerate(WHOLE_IN_JSX):
        (tmp_path / f"jsx_{at}.widget.jsx").write_text(schema + JSX.replace("WHOLE", whole))
    for at, whole in enumerate(WHOLE_IN_JINJA):
        template = JINJA.replace("WHOLE", '{"type":"Text","value":' + whole + "}")
        file = widget_file(f"Jinja {at}", schema=SCHEMA, template=template)
        (tmp_path / f"jinja_{at}.widget").write_text(file)

    widgets, without = drawn(sorted(tmp_path.iterdir()), every=1)
    lost, wrong = print_prefixes(widgets)

    assert not without
    assert len(widgets) == len(WHOLE_IN_JSX) + len(WHOLE_IN_JINJA)
    assert (lost, wrong) == (0, 0), capsys.readouterr().out
