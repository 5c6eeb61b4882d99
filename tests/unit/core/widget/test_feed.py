"""A feed asks for a part of what its widget takes, and maps an answer to the rest."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from tests.support.widgets import build_widget
from widgetd.author.commands.schemas import sidecar_schema
from widgetd.base.errors import CallError, WidgetError
from widgetd.core.checks.rules import check_widget
from widgetd.core.schema.validator import compile_schema
from widgetd.core.widget.feed import Feed
from widgetd.core.widget.sidecar import find_line
from widgetd.core.widget.widget import Widget

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "number": {"type": "string", "minLength": 2, "description": "As UA123."},
        "airline": {"type": "string"},
        "gate": {"type": ["string", "null"]},
        "note": {"type": "string"},
    },
    "required": ["number", "airline", "gate"],
    "additionalProperties": False,
}
HEAD = '[feed]\nupstream = "flights"\ntool = "get_flight"\nask = ["number"]\n'
MAP = '[feed.map]\nairline = "carrier.name"\ngate = "gate"\nnote = "note"\n'
TEMPLATE = '{"type":"Card","children":[{"type":"Text","value":{{ airline | tojson }}}]}'


SEVERAL = """
[[feed]]
name = "flight"
upstream = "flights"
tool = "get_flight"
ask = ["number"]
every_s = 30
[feed.map]
airline = "flight.carrier.name"
note = "join(', ', [flight.note, gates.note])"
[[feed]]
name = "gates"
upstream = "airport"
tool = "get_gate"
ask = ["number"]
[feed.map]
gate = "gates.gate || flight.gate"
"""
"""Two feeds, one of whose fields is made of both answers."""


def build_fed_widget(sidecar: str) -> Widget:
    return build_widget("Flight", sidecar=sidecar, schema=SCHEMA, template=TEMPLATE)


def feed_of(sidecar: str) -> Feed:
    feed = build_fed_widget(sidecar).feed
    assert feed is not None
    return feed


def test_clients_get_the_asked_part_of_the_schema_verbatim() -> None:
    widget = build_fed_widget(HEAD + MAP)

    assert widget.input_schema == {
        "type": "object",
        "properties": {"number": SCHEMA["properties"]["number"]},
        "required": ["number"],
        "additionalProperties": False,
    }
    assert widget.schema.advertised == SCHEMA


def test_answer_becomes_the_widgets_arguments() -> None:
    answer = {"carrier": {"name": "United"}, "gate": "B12"}

    checked = feed_of(HEAD + MAP).fill({"number": "UA1"}, {"": answer}, {})

    assert checked.arguments == {"number": "UA1", "airline": "United", "gate": "B12"}


def test_absent_answer_values_are_omitted_unless_required() -> None:
    answer = {"carrier": {"name": "United"}}

    checked = feed_of(HEAD + MAP).fill({"number": "UA1"}, {"": answer}, {})

    assert checked.arguments == {"number": "UA1", "airline": "United", "gate": None}


def test_without_a_map_the_same_names_are_taken() -> None:
    answer = {"airline": "United", "gate": "B1", "number": "UA 1", "else": 1}

    checked = feed_of(HEAD).fill({"number": "UA1"}, {"": answer}, {})

    assert checked.arguments == {"airline": "United", "gate": "B1", "number": "UA 1"}


def test_request_is_built_from_the_callers_arguments() -> None:
    with_arguments = HEAD + '[feed.arguments]\nflight_no = "number"\nwhen = "date"\n' + MAP

    for sidecar, request in (
        (with_arguments, {"flight_no": "UA1"}),
        (HEAD + MAP, {"number": "UA1"}),
    ):
        [source] = feed_of(sidecar).sources
        assert source.request({"number": "UA1"}) == request


def test_arguments_described_by_the_feed_alone_are_asked_for() -> None:
    asking = HEAD.replace('["number"]', '["number", "date"]') + MAP
    described = asking + '[feed.ask_schema.date]\ntype = "string"\nformat = "date"\n'

    feed = feed_of(described)

    assert feed.request_schema.advertised["properties"]["date"] == {
        "type": "string",
        "format": "date",
    }
    assert feed.request_schema.advertised["required"] == ["number", "date"]
    answer = {"carrier": {"name": "U"}, "gate": "B"}
    request = {"number": "UA1", "date": "2026-01-01"}
    assert "date" not in feed.fill(request, {"": answer}, {}).arguments


def test_value_of_an_answer_is_in_no_message() -> None:
    with pytest.raises(CallError) as raised:
        feed_of(HEAD + MAP).fill({"number": "UA1"}, {"": {"carrier": {"name": ["s3cr3t"]}}}, {})

    assert raised.value.code == "W5007"
    assert raised.value.path == "airline"
    assert str(raised.value) == (
        "the answer of the upstream 'flights' does not fit: airline: expected a string, "
        "got an array of 1"
    )


def test_expressions_of_several_feeds_join_their_answers() -> None:
    feed = feed_of(SEVERAL)
    answers = {
        "flight": {"carrier": {"name": "United"}, "gate": "A1", "note": "late"},
        "gates": {"note": "far"},
    }

    checked = feed.fill({"number": "UA1"}, answers, {})

    assert checked.arguments == {
        "number": "UA1",
        "airline": "United",
        "gate": "A1",
        "note": "late, far",
    }
    assert feed.is_live
    assert [source.at for source in feed.sources] == ["/feed/0", "/feed/1"]
    assert feed.request_schema.advertised["required"] == ["number"]


def test_part_of_an_absent_answer_stays_as_it_was() -> None:
    before = {"number": "UA1", "airline": "KLM", "gate": "B2", "note": "far"}
    answers = {"flight": {"carrier": {"name": "United"}, "gate": "A1", "note": "late"}}

    checked = feed_of(SEVERAL).fill({"number": "UA1"}, answers, before)

    assert checked.arguments == {**before, "airline": "United"}


def test_each_of_several_feeds_sends_its_own_request() -> None:
    sidecar = SEVERAL.replace(
        'ask = ["number"]\n[feed.map]\ngate', 'ask = ["note"]\n[feed.map]\ngate'
    )
    flight, gates = feed_of(sidecar).sources
    request = {"number": "UA1", "note": "x"}

    assert flight.request(request) == {"number": "UA1"}
    assert gates.request(request) == {"note": "x"}


@pytest.mark.parametrize("sidecar", [HEAD + MAP, SEVERAL])
def test_schema_for_editors_has_one_feed_and_several(sidecar: str) -> None:
    schema = compile_schema(sidecar_schema())

    assert schema.admits(tomllib.loads(sidecar))
    assert not schema.admits(tomllib.loads(sidecar.replace("upstream = ", "upstraem = ")))


REFUSED = {
    "no name": (
        SEVERAL.replace('name = "gates"\n', ""),
        "W1623",
        (
            "Flight.widget.toml#/feed: several feeds need a name each, which no other has; "
            'write name = "…" in each [[feed]]'
        ),
    ),
    "a name that is used twice": (
        SEVERAL.replace('name = "gates"', 'name = "flight"'),
        "W1623",
        (
            "Flight.widget.toml#/feed: several feeds need a name each, which no other has; "
            'write name = "…" in each [[feed]]'
        ),
    ),
    "no mapping": (
        (
            '[[feed]]\nname = "a"\nupstream = "x"\ntool = "y"\n'
            '[[feed]]\nname = "b"\nupstream = "x"\ntool = "y"\n'
        ),
        "W1624",
        (
            "Flight.widget.toml#/feed: nothing says what becomes of several answers; "
            "write [feed.map] with expressions such as 'a.status'"
        ),
    ),
    "a field of two": (
        SEVERAL.replace("gate = ", "note = "),
        "W1625",
        ("Flight.widget.toml#/feed/1/map: two feeds fill 'note'; write one expression over both"),
    ),
    "an expression of the second": (
        SEVERAL.replace("gates.gate ||", "gates gate ||"),
        "W1602",
        (
            "Flight.widget.toml#/feed/1/map/gate: line 1: the expression cannot be parsed as "
            "JMESPath: gates gate || flight.gate; mend it here"
        ),
    ),
    "a key of the second": (
        SEVERAL + "[[feed]]\nkeep = 3\n",
        "W1112",
        "Flight.widget.toml: line 19: the key 'feed.3.keep' is unknown; did you mean 'keep_s'?",
    ),
    "a name": (
        SEVERAL.replace('"gates"', '"the gates"'),
        "W1113",
        (
            "Flight.widget.toml: line 12: 'feed.2.name' cannot be 'the gates'; write letters, "
            "digits and _, as in 'gate_change'"
        ),
    ),
    "an expression": (
        HEAD + MAP.replace("carrier.name", "carrier name"),
        "W1602",
        (
            "Flight.widget.toml#/feed/map/airline: line 1: the expression cannot be parsed as "
            "JMESPath: carrier name; mend it here"
        ),
    ),
    "a required field": (
        HEAD + MAP.replace('gate = "gate"\n', ""),
        "W1604",
        (
            "Flight.widget.toml#/feed: the schema demands 'gate', which the feed neither asks for "
            "nor fills; write gate = \"…\" in [feed.map], or name it in 'ask'"
        ),
    ),
    "an unknown field": (
        HEAD.replace('["number"]', '["numbre"]') + MAP + 'number = "n"\n',
        "W1113",
        (
            "Flight.widget.toml#/feed/ask: the feed asks for 'numbre', which the schema lacks; "
            "describe it in [feed.ask_schema.numbre]"
        ),
    ),
    "an unknown key": (
        HEAD + "keep = 3\n",
        "W1112",
        "Flight.widget.toml: line 5: the key 'feed.keep' is unknown; did you mean 'keep_s'?",
    ),
    "a number": (
        HEAD + "keep_s = -1\n",
        "W1113",
        "Flight.widget.toml: line 5: 'feed.keep_s' cannot be an integer; write 0 or more",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_unusable_feed_is_refused_with_its_place(case: str) -> None:
    sidecar, code, message = REFUSED[case]

    with pytest.raises(WidgetError) as raised:
        build_fed_widget(sidecar)

    assert raised.value.finding.code == code
    assert str(raised.value) == message


def test_undeclared_upstream_and_unread_field_are_reported() -> None:
    widget = build_fed_widget(HEAD + MAP + 'gates = "gate"\n')

    findings = [
        str(f) for f in check_widget(widget, upstreams={"flight": ()}) if f.code.startswith("W16")
    ]

    assert findings == [
        (
            "Flight.widget.toml#/feed/upstream: there is no upstream 'flights' in the upstreams "
            "file; did you mean 'flight'?"
        ),
        (
            "Flight.widget.toml#/feed/map/gates: the feed fills 'gates', which the schema lacks; "
            "did you mean 'gate'?"
        ),
    ]
    assert [f.code for f in check_widget(widget) if f.code.startswith("W16")] == ["W1603"]


def test_findings_about_several_feeds_name_the_one() -> None:
    widget = build_fed_widget(SEVERAL + 'gates = "flight.x"\n')

    findings = [str(f) for f in check_widget(widget, upstreams={"flights": ()})]

    assert [one.partition(";")[0] for one in findings if "/feed/" in one] == [
        (
            "Flight.widget.toml#/feed/1/upstream: there is no upstream 'airport' in the "
            "upstreams file"
        ),
        "Flight.widget.toml#/feed/1/map/gates: the feed fills 'gates', which the schema lacks",
    ]
    assert find_line(SEVERAL, "/feed/1/upstream") == 13


def test_jmespath_makes_objects_for_the_summary() -> None:
    widget = build_widget(sidecar='[summary_data]\nwhom = { jmespath = "{name: who}" }\n')

    assert widget.summary.facts({"who": "Ada"}, "Ada") == {
        "summary": "Ada",
        "whom": {"name": "Ada"},
    }
