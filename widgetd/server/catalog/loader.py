"""The loader: from a file and its sidecar to a proven, admitted widget.

    source and sidecar -> define -> compile -> admit -> render -> widget

Everything runs in one thread. Compiling holds the interpreter's lock and is nearly all of the work.
Four threads were measured to be no faster.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from widgetd.base.errors import WidgetError
from widgetd.base.files.folder import Folder, open_folder
from widgetd.base.files.source import Source, read
from widgetd.base.limits import Limits
from widgetd.base.logs import get_logger
from widgetd.base.text_search import did_you_mean
from widgetd.core.widget.definition import compute_digest, define, redefine
from widgetd.core.widget.naming import JSX_SUFFIX, WIDGET_SUFFIX
from widgetd.core.widget.sidecar import SUFFIX
from widgetd.core.widget.sources import Choice
from widgetd.core.widget.theme import THEME_FILE
from widgetd.core.widget.widget import CheckJsx, Proof, Widget

if TYPE_CHECKING:
    from widgetd.server.catalog.proof_cache import ProofCache

_log = get_logger()

WIDGET_SUFFIXES = (WIDGET_SUFFIX, JSX_SUFFIX)
SERVED_SUFFIXES = (*WIDGET_SUFFIXES, THEME_FILE)
SIDECAR_SUFFIXES = tuple(suffix + SUFFIX for suffix in WIDGET_SUFFIXES)

Admit = Callable[[Widget], bytes]
"""Makes a widget's entry in a list of tools, or raises `WidgetError`."""

Load = Callable[[Source, Source | None], Widget]
"""Makes the widget of a source and its sidecar, or raises `WidgetError`."""

ProofLookup = Callable[[str, str], Proof | None]
"""Returns the proof of a path and digest from another process, or None without one."""


def choose(widget: Widget) -> Choice:
    """Return the source of `widget` to render, see `widgetd.core.studio.choose`.

    Raises:
        WidgetError: Neither can be compiled, or the sidecar asks for the other.
    """
    # Imported late: a start with proofs for all widgets compares no sources.
    from widgetd.core.studio.choose import choose as compare_and_choose  # noqa: PLC0415

    return compare_and_choose(widget)


class Precheck(Protocol):
    """Draws content within limits before this process does. Raises `WidgetError` (W1013)."""

    def check_jsx(self, text: str) -> None:
        """Return if `text` is safe to parse as JSX."""

    def prove(
        self,
        source: Source,
        sidecar: Source | None,
        arguments: Mapping[str, Any] | None = None,
        actions: Sequence[Mapping[str, Any]] = (),
    ) -> Proof | None:
        """Return the proof of a file and its sidecar, or None if it cannot be served.

        With `arguments` or `actions`, the file is drawn with those as well.
        """


@dataclass(eq=False)
class Loader:
    """A loader of widgets.

    Attributes:
        admit: Makes a widget's entry in a list of tools.
        limits: Limits of one widget.
        strict: Refuse a template that reads undeclared arguments.
        proofs: Proofs of earlier processes. None to prove everything.
        precheck: Draws unproven content before this process does.
        keeps_parts: Whether a proven widget keeps its compiled parts, for a caller who uses them at
            once. A served widget compiles them again at its first call, because most of many
            widgets are never called.
    """

    admit: Admit
    _: KW_ONLY
    limits: Limits = field(default_factory=Limits)
    strict: bool = False
    proofs: ProofCache | None = None
    precheck: Precheck | None = None
    keeps_parts: bool = False
    _lookup: ProofLookup | None = None

    @property
    def proof_count(self) -> int:
        return 0 if self.proofs is None else len(self.proofs)

    @property
    def _check_jsx(self) -> CheckJsx | None:
        return None if self.precheck is None else self.precheck.check_jsx

    def load(
        self,
        source: Source,
        sidecar: Source | None,
        arguments: Mapping[str, Any] | None = None,
        actions: Sequence[Mapping[str, Any]] = (),
    ) -> Widget:
        """Return the widget of a file and its sidecar.

        Raises:
            WidgetError: It cannot be served.
        """
        path, content, proofs = source.path, compute_digest(source, sidecar), self.proofs
        proof = None if proofs is None else proofs.take(path, content)
        if proof is not None:
            return self._from_proof(source, sidecar, proof)
        proof = None if self._lookup is None else self._lookup(path, content)
        if proof is not None:
            widget = self._from_proof(source, sidecar, proof)
        else:
            if self.precheck is not None:
                proof = self.precheck.prove(source, sidecar, arguments, actions)
            # Without a proof, this process meets the same error and reports it.
            if proof is None or self.strict or self.keeps_parts:
                widget = self.prove(source, sidecar, self._check_jsx)
            else:
                widget = self._from_proof(source, sidecar, proof)
                widget.set_entry(self.admit(widget))
        if proofs is not None:
            proofs.add(path, content, widget.prove())
        if not self.keeps_parts:
            widget.release()
        return widget

    def _from_proof(self, source: Source, sidecar: Source | None, proof: Proof) -> Widget:
        definition = redefine(source, sidecar, proof.names)
        limits, check_jsx = self.limits, self._check_jsx
        return Widget(definition, choose=choose, limits=limits, proof=proof, check_jsx=check_jsx)

    def prove(
        self, source: Source, sidecar: Source | None, check_jsx: CheckJsx | None = None
    ) -> Widget:
        """Compile, admit and draw a widget in this process.

        Raises:
            WidgetError: It cannot be served.
        """
        # Imported late: a start with proofs for all widgets checks nothing.
        from widgetd.core.checks.renders import explain_undrawable  # noqa: PLC0415 - see above
        from widgetd.core.checks.rules import check_widget  # noqa: PLC0415 - see above

        widget = load(source, sidecar, limits=self.limits, check_jsx=check_jsx)
        widget.set_entry(self.admit(widget))
        if finding := explain_undrawable(widget):
            raise WidgetError(finding).of(source.path)
        if self.strict:
            for finding in check_widget(widget, strict=True):
                if finding.level == "fault":
                    raise WidgetError(finding)
        return widget

    @contextmanager
    def using_proofs(self, lookup: ProofLookup | None) -> Iterator[None]:
        """Consult `lookup` within the block before proving a file."""
        self._lookup = lookup
        yield
        self._lookup = None


def read_pair(folder: Folder, path: str, *, limit_bytes: int) -> tuple[Source, Source | None]:
    """Read the file at `path` and its sidecar, if any, even while they are being written.

    Raises:
        WidgetError: A file cannot be served (W1001 to W1004).
        FileNotFoundError: There is no such file.
    """
    take = partial(read, folder, limit_bytes=limit_bytes, quiet_ms=0)
    source = take(path)
    try:
        return source, take(path + SUFFIX)
    except FileNotFoundError:
        return source, None


def load(
    source: Source,
    sidecar: Source | None = None,
    *,
    limits: Limits | None = None,
    check_jsx: CheckJsx | None = None,
) -> Widget:
    """Return the proven widget of a file and its sidecar, whether or not it can be listed.

    Raises:
        WidgetError: They make none.
    """
    limits = limits or Limits()
    definition = define(source, sidecar, limits=limits)
    widget = Widget(definition, choose=choose, limits=limits, check_jsx=check_jsx)
    widget.prove()
    return widget


def load_widget(path: str | os.PathLike[str], *, limits: Limits | None = None) -> Widget:
    """Return the widget of the file at `path`, with the sidecar beside it.

    Raises:
        WidgetError: The file cannot be served. The finding has the place and the reason.
        FileNotFoundError: There is no such file. The error names it, and the nearest file.
    """
    limits = limits or Limits()
    file = Path(path)
    try:
        with open_folder(file.parent) as folder:
            source, sidecar = read_pair(folder, file.name, limit_bytes=limits.file_bytes)
    except FileNotFoundError:
        problem = f"there is no such file; {_advise_on_absent(file)}"
        raise FileNotFoundError(errno.ENOENT, problem, str(file)) from None
    widget = load(source, sidecar, limits=limits)
    widget.folder = file.parent
    return widget


def _advise_on_absent(file: Path) -> str:
    try:
        names = sorted(entry.name for entry in file.parent.iterdir())
    except OSError:
        return f"there is no folder '{file.parent}' either"
    widgets = [name for name in names if name.endswith(WIDGET_SUFFIXES)]
    return did_you_mean(file.name, widgets, f"'{file.parent}' has {len(widgets)} widgets")
