"""Outcomes of real files: `python -m benchmarks.corpus [FOLDER]` prints the table.

Each file of the corpus is loaded, and rendered with its own sample and with
arguments made from its schema, by widgetd, by chatkit's own `WidgetTemplate`, and
by mcp-chatkit-widget where its environment can be had. All get the same arguments.
What an untouched export draws is held against its own JSX, on thirty sets of them.
"""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from benchmarks.children import ROOT
from benchmarks.peer import Peer, peer
from widgetd.base.errors import CallError, WidgetError
from widgetd.core.checks.rules import check_widget
from widgetd.core.schema.sampling.sample import State
from widgetd.core.studio.compare import argument_sets, compare, differ
from widgetd.core.widget.components import tree as normalised
from widgetd.core.widget.widget import Widget
from widgetd.server.catalog.loader import load_widget

CORPUS = ROOT.parent / "shared" / "corpus"

CASES: Mapping[str, State] = {
    "renders the required arguments alone": "required",
    "renders empty lists": "empty",
    "renders nasty strings, unchanged": "nasty",
}

AGREES = "agrees with its JSX on 30 generated argument sets"

Tree = dict[str, Any] | None
Render = Callable[[Path, Mapping[str, Any] | None], tuple[bool, Tree]]
"""File and arguments to whether it loads, and to the tree; without arguments it only loads."""


@dataclass(frozen=True, kw_only=True)
class File:
    """One file and the arguments that it is rendered with.

    Attributes:
        path: Where it lies.
        widget: What widgetd makes of it; None where it is refused.
        refusal: Why it is refused; empty where it is not.
    """

    path: Path
    widget: Widget | None
    refusal: str

    @cached_property
    def of_jsx(self) -> list[tuple[Mapping[str, Any], dict[str, Any]]]:
        """Argument sets with the tree that the JSX renders; empty for an edited file."""
        widget = self.widget
        if widget is None or widget.definition.studio is None or not widget.definition.view:
            return []
        if not compare(widget).is_export:
            return []
        sets = argument_sets(widget.definition.studio, widget.schema)
        filled = [widget.schema.with_defaults(dict(each)) for each in sets]
        return [(each, normalised(widget.view.render(each))) for each in filled]

    def arguments(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yield each case's name and its arguments."""
        if self.widget is None:
            return
        studio = self.widget.definition.studio
        if studio is not None:
            yield "renders its own sample", dict(studio.default_state)
        for name, state in CASES.items():
            sample = self.widget.schema.sample(state=state)
            if sample is not None:
                yield name, sample


def main(folder: Path = CORPUS) -> None:
    """Print the table, the refusals, and why a preview is not met."""
    files = [_read(path) for path in sorted(folder.rglob("*.widget"))]
    if not files:
        print(f"there are no .widget files in {folder}")
        return
    columns: dict[str, Counter[str]] = {"possible": _possible(files)}
    columns["widgetd"] = _count(files, _ours)
    columns["WidgetTemplate"] = _count(files, _chatkits)
    other = peer()
    if isinstance(other, Peer):
        with _peers(other) as theirs:
            columns["mcp-chatkit-widget"] = _count(files, theirs)
    _print_table(columns, len(files))
    if isinstance(other, str):
        print(other)
    for file in files:
        if file.refusal:
            print(f"refused: {file.refusal}")
    for file in files:
        for reason in _reasons(file):
            print(f"not its preview: {file.path.name}: {reason}")


def _reasons(file: File) -> Iterator[str]:
    """Print why files do not match their previews, and edits since the export."""
    if file.widget is None:
        return
    findings = check_widget(file.widget)
    stale = [one for one in findings if one.code == "W1323"]
    changed = [one.problem for one in findings if one.code == "W1326"]
    for one in stale:
        yield "; ".join([one.problem, *changed, one.advice])


def _read(path: Path) -> File:
    try:
        return File(path=path, widget=load_widget(path), refusal="")
    except WidgetError as error:
        return File(path=path, widget=None, refusal=str(error))


def _possible(files: list[File]) -> Counter[str]:
    counted = Counter({"loads": len(files)})
    for file in files:
        counted.update(name for name, _ in file.arguments())
        if _preview(file) is not None:
            counted["equals its preview"] += 1
        counted[AGREES] += bool(file.of_jsx)
    return counted


def _count(files: list[File], render: Render) -> Counter[str]:
    counted: Counter[str] = Counter()
    for file in files:
        counted["loads"] += render(file.path, None)[0]
        for name, arguments in file.arguments():
            tree = render(file.path, arguments)[1]
            unchanged = tree is not None and (
                "unchanged" not in name or _has_same_texts(tree, file, arguments)
            )
            counted[name] += unchanged
            if name == "renders its own sample" and tree is not None:
                counted["equals its preview"] += _same(tree, _preview(file))
        counted[AGREES] += bool(file.of_jsx) and all(
            tree is not None and not differ(normalised(json.dumps(tree)), of)
            for arguments, of in file.of_jsx
            for tree in [render(file.path, arguments)[1]]
        )
    return counted


def _preview(file: File) -> Mapping[str, Any] | None:
    widget = file.widget
    if widget is None or widget.definition.studio is None:
        return None
    return widget.definition.document.preview


def _same(rendered: Mapping[str, Any], preview: Mapping[str, Any] | None) -> bool:
    if preview is None:
        return False
    return normalised(json.dumps(rendered)) == normalised(json.dumps(preview, default=dict))


def _has_same_texts(rendered: Mapping[str, Any], file: File, arguments: Mapping[str, Any]) -> bool:
    """Return whether the tree has the same texts as widgetd's."""
    expected = _ours(file.path, arguments)[1]
    return expected is not None and normalised(json.dumps(rendered)) == expected


def _ours(path: Path, arguments: Mapping[str, Any] | None) -> tuple[bool, Tree]:
    try:
        widget = load_widget(path)
        if arguments is None:
            return True, None
        # Samples that their own schema refuses are rendered all the same, as the others do.
        return True, normalised(widget.drawing.render(dict(arguments)))
    except (WidgetError, CallError):
        return False, None


def _chatkits(path: Path, arguments: Mapping[str, Any] | None) -> tuple[bool, Tree]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from chatkit.widgets import WidgetTemplate  # noqa: PLC0415 - it warns where it is imported

        try:
            template = WidgetTemplate.from_file(str(path))
            if arguments is None:
                return True, None
            built = template.build(dict(arguments))
            return True, built.model_dump(mode="json", exclude_none=True)
        except Exception:  # noqa: BLE001 - that it fails is what is counted
            return False, None


@contextmanager
def _peers(other: Peer) -> Iterator[Render]:
    with subprocess.Popen(
        other.command("attempt"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=ROOT,
    ) as child:

        def render(path: Path, arguments: Mapping[str, Any] | None) -> tuple[bool, Tree]:
            assert child.stdin is not None
            assert child.stdout is not None
            child.stdin.write(json.dumps([str(path), arguments], default=dict) + "\n")
            child.stdin.flush()
            answer = json.loads(child.stdout.readline())
            return answer["loaded"], answer["tree"]

        yield render
        child.terminate()


def _print_table(columns: Mapping[str, Counter[str]], files: int) -> None:
    names = ("loads", "renders its own sample", *CASES, "equals its preview", AGREES)
    print(f"| of {files} files | {' | '.join(columns)} |")
    print(f"|---|{'---|' * len(columns)}")
    for name in names:
        cells = " | ".join(str(counts[name]) for counts in columns.values())
        print(f"| {name} | {cells} |")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
