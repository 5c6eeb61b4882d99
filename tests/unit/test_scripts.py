"""Scripts that are texts of other programs use only names that exist.

Type checkers do not read them, and a program that fails to start may look like one that ends
as it should.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from textwrap import dedent
from typing import Any

ROOT = Path(__file__).parents[2]
FOLDERS = ("tests", "benchmarks", "stress", "examples", "simulation")
OWN = ("widgetd", *FOLDERS)


def scripts() -> Iterator[tuple[str, str]]:
    """Yield each text that imports a module of this project, and its place."""
    for folder in FOLDERS:
        for file in sorted((ROOT / folder).rglob("*.py")):
            if "node_modules" in file.parts:
                continue
            tree = ast.parse(file.read_text(encoding="utf-8"))
            for node in ast.walk(tree):
                text = _string(node)
                if any(f"from {name}" in text or f"import {name}" in text for name in OWN):
                    yield f"{file.relative_to(ROOT)}:{getattr(node, 'lineno', 0)}", dedent(text)


def _string(node: ast.AST) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(
            _string(part) if isinstance(part, ast.Constant) else "0" for part in node.values
        )
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return ""


def _parse(text: str) -> ast.Module | None:
    """Return a script's tree; None for other texts, as a sentence about an import."""
    for each in (text, text.replace("{{", "{").replace("}}", "}")):
        try:
            return ast.parse(each)
        except SyntaxError:
            continue
    return None


# One test, so that collecting the tests does not parse all of them.
def test_scripts_use_only_existing_names() -> None:
    trees = {place: tree for place, text in scripts() if (tree := _parse(text)) is not None}
    faults = {place: fault for place, tree in trees.items() if (fault := _find_fault(tree))}

    assert faults == {}
    assert len(trees) > 15


def _find_fault(tree: ast.Module) -> str:
    """Return the first name or argument that does not exist; empty if all do."""
    try:
        names = dict(_imports(tree))
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute):
                _resolve(node, names)
            elif isinstance(node, ast.Call) and callable(called := _resolve(node.func, names)):
                keywords = {one.arg: None for one in node.keywords if one.arg}
                inspect.signature(called).bind_partial(**keywords)
    except (ImportError, AttributeError, TypeError) as error:
        return str(error)
    return ""


def _imports(tree: ast.Module) -> Iterator[tuple[str, Any]]:
    """Yield what a script imports from this project, by the name that it has there."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for one in node.names:
                if one.name.partition(".")[0] in OWN:
                    module = import_module(one.name)
                    yield (
                        one.asname or one.name.partition(".")[0],
                        (module if one.asname else import_module(one.name.partition(".")[0])),
                    )
        elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in OWN:
            module = import_module(node.module or "")
            for one in node.names:
                if not hasattr(module, one.name):
                    import_module(f"{node.module}.{one.name}")
                yield one.asname or one.name, getattr(module, one.name)


def _resolve(node: ast.expr, names: dict[str, Any]) -> Any:
    """Return the value of an expression of names and attributes; None if it is not imported."""
    if isinstance(node, ast.Name):
        return names.get(node.id)
    if isinstance(node, ast.Attribute):
        owner = _resolve(node.value, names)
        if inspect.ismodule(owner) or inspect.isclass(owner):
            return getattr(owner, node.attr)
    return None
