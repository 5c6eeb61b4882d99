"""Hold what a template reads against what its schema declares, both ways.

Neither is a fault: what is not declared may still be sent where the schema is
open, and a field that is not shown may be there for an action. Knows paths, not
values.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator

from widgetd.checks.declared_paths import DeclaredPaths, UndeclaredPath
from widgetd.errors import Finding
from widgetd.schema.json_values import pointer
from widgetd.template import Expression, Read, Template
from widgetd.widget.summary import Facts

_MOST_ADVISED = 50
"""Looking for what was meant takes long among many names."""

_MOST_TRIED = 50
"""Rendering again takes long."""


def undeclared(
    reads: Iterable[Read], declared: DeclaredPaths, *, strict: bool
) -> Iterator[Finding]:
    """Each path that the template reads and the schema does not declare, where it is read first.

    Args:
        reads: What the template reads, in the order of its text.
        declared: The schema.
        strict: Whether this is a fault (W1321) or a warning (W1320).
    """
    for count, (read, missing) in enumerate(_missing(reads, declared)):
        yield Finding(
            code="W1321" if strict else "W1320",
            at="/template",
            line=read.line,
            problem=f"the template reads '{missing.path}', which the schema does not declare",
            advice=missing.advice if count < _MOST_ADVISED else "declare it",
        )


def undeclared_by_sidecar(facts: Facts, path: str, declared: DeclaredPaths) -> Iterator[Finding]:
    """Each path that an expression of the sidecar at `path` reads and nothing declares (W1213)."""
    readers: dict[str, Template | Expression] = {}
    if facts.written is not None:
        readers["/summary"] = facts.written
    for name, expression in facts.expressions.items():
        readers[f"/summary_data{pointer(name)}"] = expression
    for at, reader in readers.items():
        for _, missing in _missing(reader.reads, declared):
            yield Finding(
                code="W1213",
                path=path,
                at=at,
                problem=f"the schema does not declare '{missing.path}'",
                advice=missing.advice,
            )


def _missing(
    reads: Iterable[Read], declared: DeclaredPaths
) -> Iterator[tuple[Read, UndeclaredPath]]:
    """Each read of what is not declared, where it comes first."""
    said: set[str] = set()
    for read in reads:
        missing = None if read.index else declared.missing(read.path)
        if missing is not None and missing.path not in said:
            said.add(missing.path)
            yield read, missing


def unused(
    read: Collection[str], declared: DeclaredPaths, *, shows: Callable[[str], bool]
) -> Iterator[Finding]:
    """Each field of the schema that nothing is made of (W1210), outermost only.

    Args:
        read: The paths that the template, or the sidecar, reads.
        declared: The schema.
        shows: Whether a field that no read names changes the output all the same.
    """
    settled: list[str] = []
    tried = 0
    for path, at in declared.fields():
        if any(_is_under(path, above) for above in settled):
            continue
        if _is_named(path, read):
            continue
        settled.append(path)
        around = [one for one in read if _is_under(path, one)]
        if around:
            tried += 1
        if not around or not (_is_passed_on(around, read) or tried > _MOST_TRIED or shows(path)):
            yield Finding(
                code="W1210",
                at=f"/jsonSchema{at}",
                problem=f"nothing is made of '{path}'",
                advice="show it, or take it out of the schema",
            )


def _is_named(path: str, read: Collection[str]) -> bool:
    return path in read or any(_is_under(one, path) for one in read)


def _is_passed_on(around: Collection[str], read: Collection[str]) -> bool:
    """Whether of what is read `around` a path nothing is read within: it is used as a whole."""
    innermost = max(around, key=len)
    return not any(_is_under(one, innermost) for one in read)


def _is_under(path: str, above: str) -> bool:
    return path.startswith((f"{above}.", f"{above}["))
