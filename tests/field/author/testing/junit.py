"""The shape of a JUnit report, as readers of such files expect it."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree as ET

_NUMBER, _SECONDS, _TEXT = r"\d+", r"\d+\.\d+", r"(?s).+"

ATTRIBUTES = {
    "testsuites": {"name": _TEXT},
    "testsuite": {
        "name": _TEXT,
        **dict.fromkeys(("tests", "failures", "errors", "skipped"), _NUMBER),
        "time": _SECONDS,
        "timestamp": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d.*",
        "hostname": _TEXT,
    },
    "testcase": {"classname": r"(?s).*", "name": _TEXT, "time": _SECONDS},
    "failure": {"message": _TEXT},
}
"""What each element has, no more and no less, and how it is written."""

CHILDREN = {"testsuites": {"testsuite"}, "testsuite": {"testcase"}, "testcase": {"failure"}}


def assert_junit(file: Path, *, tests: int, failures: int) -> None:
    """Assert that the report is valid JUnit XML and counts this many tests."""
    root = ET.parse(file).getroot()
    assert root.tag == "testsuites"
    for element in root.iter():
        wanted = ATTRIBUTES[element.tag]
        assert set(element.attrib) == set(wanted), element.tag
        for name, pattern in wanted.items():
            assert re.fullmatch(pattern, element.attrib[name]), (element.tag, name)
        assert {child.tag for child in element} <= CHILDREN.get(element.tag, set())
    (suite,) = root
    counts = {name: int(suite.attrib[name]) for name in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": tests, "failures": failures, "errors": 0, "skipped": 0}
    assert len(suite) == tests
    assert len(list(suite.iter("failure"))) == failures
