"""Types of what is served, in the words of other languages."""

from __future__ import annotations

import subprocess
from importlib import import_module
from pathlib import Path
from typing import get_args, get_type_hints

import pytest

from tests.making import snapshot_of, widget
from widgetd.catalog.discovery import discover_widgets
from widgetd.catalog.snapshot import Snapshot
from widgetd.config import bundled
from widgetd.declarations.module import declarations

TSC = Path(__file__).parents[2] / "view" / "node_modules" / ".bin" / "tsc"

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


@pytest.fixture(scope="module")
def everything() -> Snapshot:
    return snapshot_of(*discover_widgets(bundled()), widget("Odd", schema=SCHEMA))


def test_a_schema_becomes_an_interface() -> None:
    text = declarations(snapshot_of(widget(schema=SCHEMA)), "ts")

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
    assert (
        """export function isGreeting(meta: Meta): boolean {
  return meta["widgetd/ui"]?.uiType === "greeting";
}"""
        in text
    )


def test_python_declarations_are_python(
    everything: Snapshot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "declared.py").write_text(declarations(everything, "python"))
    monkeypatch.syspath_prepend(tmp_path)
    declared = import_module("declared")

    hints = get_type_hints(declared.OddArguments)
    assert hints["who"] is str
    assert get_args(hints["legs"]) == (declared.OddArgumentsLeg,)
    assert set(hints) == {"who", "from", "a-b", "legs", "free", "map"}
    for made in everything.widgets.values():
        assert hasattr(declared, f"{made.definition.component}Arguments")


@pytest.mark.skipif(not TSC.exists(), reason="needs the TypeScript compiler of view/node_modules")
def test_typescript_declarations_compile_strictly(everything: Snapshot, tmp_path: Path) -> None:
    file = tmp_path / "types.ts"
    file.write_text(declarations(everything, "ts"))

    compiled = subprocess.run(
        [TSC, "--noEmit", "--strict", file], capture_output=True, text=True, check=False
    )

    assert compiled.stdout == ""
