"""Types of the served tools in other languages."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import Literal, get_args, get_type_hints

import pytest
from mypy.api import run as mypy

from tests.support.typescript import compile_typescript, needs_tsc
from tests.support.widgets import build_widget, bundled_widgets, snapshot_of
from widgetd.author.declarations.module import declarations
from widgetd.daemon.wings import ROWS
from widgetd.server.catalog.snapshot import Snapshot
from widgetd.server.render.mock import mocks

Language = Literal["ts", "python"]

BUILTIN = {tool.name: tool.input_schema for tool in ROWS}

SCHEMA = {
    "type": "object",
    "properties": {
        "who": {"type": "string", "description": "Whom to greet."},
        "from": {"enum": ["a", "b"]},
        "a-b": {"type": ["integer", "null"]},
        "legs": {"type": "array", "items": {"$ref": "#/$defs/leg"}},
        "free": {},
        "map": {"type": "object", "additionalProperties": {"type": "number"}},
    },
    "required": ["who", "legs"],
    "$defs": {
        "leg": {
            "type": "object",
            "properties": {"next": {"$ref": "#/$defs/leg"}, "at": {"const": 1}},
        }
    },
}


SIDECAR = """
ui_type = "social-greeting"
summary_fields = ["who"]
[summary_data]
total = "legs | length"
"""

USED_IN_PYTHON = """


def title(response: Response) -> str:
    if is_flight_tracker(response):
        ui_type: Literal["flight-tracker"] = response["_meta"]["widgetd/ui"]["uiType"]
        return ui_type
    return ""
"""

USED_IN_TYPESCRIPT = """

export function title(response: Response): string {
  if (isFlightTracker(response)) {
    const uiType: "flight-tracker" = response._meta["widgetd/ui"].uiType;
    return uiType;
  }
  return "";
}
"""


@pytest.fixture(scope="module")
def everything() -> Snapshot:
    return snapshot_of(*bundled_widgets(), build_widget("Odd", schema=SCHEMA))


def test_schema_becomes_an_interface() -> None:
    text = declarations(snapshot_of(build_widget(schema=SCHEMA)), "ts")

    assert (
        """export interface GreetingArguments {
  /** Whom to greet. */
  who: string;
  from?: "a" | "b";
  "a-b"?: number | null;
  legs: Array<GreetingArgumentsLeg>;
  free?: unknown;
  map?: Record<string, number>;
}"""
        in text
    )
    assert (
        """export interface GreetingArgumentsLeg {
  next?: GreetingArgumentsLeg;
  at?: 1;
}"""
        in text
    )


def test_combined_schemas_are_one_interface_and_a_list_of_places_one_union() -> None:
    schema = {
        "$ref": "#/$defs/all",
        "$defs": {
            "all": {
                "allOf": [{"$ref": "#/$defs/named"}],
                "properties": {
                    "next": {"$ref": "#/$defs/all"},
                    "at": {"type": "array", "prefixItems": [{"type": "number"}, {"const": "N"}]},
                },
                "required": ["who"],
            },
            "named": {"type": "object", "properties": {"who": {"type": "string"}}},
        },
    }

    text = declarations(snapshot_of(build_widget(schema=schema)), "ts")

    assert (
        """export interface GreetingArguments {
  next?: GreetingArguments;
  at?: Array<number | "N">;
  who: string;
}"""
        in text
    )


def test_response_declares_the_models_data_of_the_sidecar() -> None:
    widget = build_widget(schema=SCHEMA, sidecar=SIDECAR)

    text = declarations(snapshot_of(widget), "ts")

    assert (
        """export interface GreetingFacts {
  uiType: "social-greeting";
  summary: string;
  renderId?: string;
  who?: string;
  total?: unknown;
}"""
        in text
    )
    assert (
        """export function isGreeting(
  response: { _meta?: object | undefined },
): response is GreetingResponse {
  const meta = response._meta as Meta | undefined;
  return meta?.["widgetd/ui"]?.uiType === "social-greeting";
}"""
        in text
    )
    assert text.endswith(
        """export type Response = GreetingResponse | FailedResponse;

export type UiType = "social-greeting";"""
    )


@pytest.mark.parametrize("language", ["ts", "python"])
def test_widgets_with_similar_names_have_separate_declarations(language: Language) -> None:
    text = declarations(
        snapshot_of(build_widget("Day 1"), build_widget("Day1"), build_widget("Failed")), language
    )

    for name in ("Day1Response", "Day1_2Response", "FailedResponse", "Failed_2Response"):
        assert len(re.findall(rf"(?:interface|class) {name}\b", text)) == 1


def test_folder_without_widgets_has_declarations() -> None:
    assert declarations(Snapshot.empty(), "ts").endswith(
        "export type Response = FailedResponse;\n\nexport type UiType = string;"
    )


def test_python_declarations_are_python(
    everything: Snapshot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "declared.py").write_text(declarations(everything, "python", BUILTIN))
    monkeypatch.syspath_prepend(tmp_path)
    declared = import_module("declared")

    hints = get_type_hints(declared.OddArguments)
    assert hints["who"] is str
    assert get_args(hints["legs"]) == (declared.OddArgumentsLeg,)
    assert set(hints) == {"who", "from", "a-b", "legs", "free", "map"}
    for widget in everything.widgets.values():
        assert hasattr(declared, f"{widget.definition.component}Arguments")


def test_python_guard_identifies_the_results_of_one_widget(
    everything: Snapshot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "guarding.py").write_text(declarations(everything, "python", BUILTIN))
    monkeypatch.syspath_prepend(tmp_path)
    guarding = import_module("guarding")

    for widget in everything.widgets.values():
        (call,) = mocks(widget)
        passed = {
            tool for tool in everything.widgets if getattr(guarding, f"is_{tool}")(call["result"])
        }
        assert passed == {widget.tool}
    assert not guarding.is_odd({"content": [], "isError": True})


def test_python_declarations_check_strictly(everything: Snapshot, tmp_path: Path) -> None:
    (tmp_path / "declared.py").write_text(
        declarations(everything, "python", BUILTIN) + USED_IN_PYTHON
    )

    output, problems, _ = mypy(
        ["--strict", "--no-incremental", "--config-file=", str(tmp_path / "declared.py")]
    )

    assert (output, problems) == ("Success: no issues found in 1 source file\n", "")


@needs_tsc
def test_typescript_declarations_compile_strictly(everything: Snapshot, tmp_path: Path) -> None:
    text = declarations(everything, "ts", BUILTIN) + USED_IN_TYPESCRIPT
    (tmp_path / "types.ts").write_text(text)

    assert compile_typescript(tmp_path, "types.ts") == ""
