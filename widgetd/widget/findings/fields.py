"""Hold what a template reads against what its schema declares, both ways.

Neither is a fault: what is not declared may still be sent where the schema is
open, and a field that is not shown may be there for an action. Knows paths, not
values.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator

from widgetd.errors import Finding
from widgetd.widget.arguments.subschemas import pointer
from widgetd.widget.facts import Facts
from widgetd.widget.findings.declared import Declared, Missing
from widgetd.widget.template import Read


def undeclared(reads: Iterable[Read], declared: Declared, *, strict: bool) -> Iterator[Finding]:
    """Each path that the template reads and the schema does not declare, where it is read first.

    Args:
        reads: What the template reads, in the order of its text.
        declared: The schema.
        strict: Whether this is a fault (W1321) or a warning (W1320).
    """
    for read, missing in _missing(reads, declared):
        yield Finding(
            code="W1321" if strict else "W1320",
            at="/template",
            line=read.line,
            problem=f"the template reads '{missing.path}', which the schema does not declare",
            advice=missing.advice,
        )


def undeclared_by_sidecar(facts: Facts, path: str, declared: Declared) -> Iterator[Finding]:
    """Each path that an expression of the sidecar at `path` reads and nothing declares (W1213)."""
    readers = {f"/summary_data{pointer(name)}": one for name, one in facts.expressions.items()}
    written = {} if facts.written is None else {"/summary": facts.written}
    for at, reader in (*written.items(), *readers.items()):
        for _, missing in _missing(reader.reads, declared):
            yield Finding(
                code="W1213",
                path=path,
                at=at,
                problem=f"the schema does not declare '{missing.path}'",
                advice=missing.advice,
            )


def _missing(reads: Iterable[Read], declared: Declared) -> Iterator[tuple[Read, Missing]]:
    """Each read of what is not declared, where it comes first."""
    said: set[str] = set()
    for read in reads:
        missing = None if read.index else declared.missing(read.path)
        if missing is not None and missing.path not in said:
            said.add(missing.path)
            yield read, missing


def unused(
    read: Collection[str], declared: Declared, *, shows: Callable[[str], bool]
) -> Iterator[Finding]:
    """Each field of the schema that nothing is made of (W1210), outermost only.

    Args:
        read: The paths that the template, or the sidecar, reads.
        declared: The schema.
        shows: Whether a field that no read names changes the output all the same.
    """
    settled: list[str] = []
    for path, at in declared.fields():
        if any(_is_under(path, above) for above in settled):
            continue
        if _is_named(path, read):
            continue
        settled.append(path)
        if not _is_passed_on(path, read) and not shows(path):
            yield Finding(
                code="W1210",
                at=f"/jsonSchema{at}",
                problem=f"nothing is made of '{path}'",
                advice="show it, or take it out of the schema",
            )


def _is_named(path: str, read: Collection[str]) -> bool:
    return path in read or any(_is_under(one, path) for one in read)


def _is_passed_on(path: str, read: Collection[str]) -> bool:
    """Whether something around `path` is read, and nothing within that: it is used as a whole."""
    around = [one for one in read if _is_under(path, one)]
    innermost = max(around, key=len, default=None)
    return innermost is not None and not any(_is_under(one, innermost) for one in read)


def _is_under(path: str, above: str) -> bool:
    return path.startswith((f"{above}.", f"{above}["))
