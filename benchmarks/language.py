"""Measure the package's English: `python -m benchmarks.language` lists what to rewrite."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "widgetd"

OPENING = re.compile(
    r"^(What|Whether|Where|Who|Whoever|How|Which|Why|When|Whose|Of|By|In which|To which"
    r"|From which|For which)\b"
)
"""Openings that are no verb and no noun."""

INDEFINITE = re.compile(r"\b(whoever|nobody|somebody|anybody)\b", re.IGNORECASE)
"""Pronouns that stand for a caller, a client, a user or an operator."""

_PARTICIPLES = """
told said seen found made kept given taken held shown known drawn left met sent gone done built
written spoken bound heard lent chosen hidden broken laid paid asked
"""
_ADJECTIVES = """
cached sorted reversed escaped quoted nested typed expected required feed need seed embed
"""

PARTICIPLES = frozenset(_PARTICIPLES.split())
ADJECTIVES = frozenset(_ADJECTIVES.split())
"""Words that end as a participle does and are good names of functions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """Lines of the package to reword, each as `path:line: text`.

    Attributes:
        docstrings: The number of docstrings.
        openings: Docstrings that open with a question word or a preposition.
        indefinite: Docstrings that say *whoever*, *nobody*, *somebody* or *anybody*.
        participles: Functions that are named by a past participle.
        repeated: Classes whose name another class has.
    """

    docstrings: int
    openings: tuple[str, ...]
    indefinite: tuple[str, ...]
    participles: tuple[str, ...]
    repeated: tuple[str, ...]

    @property
    def openings_percent(self) -> float:
        """The share of docstrings that open oddly."""
        return 100 * len(self.openings) / max(self.docstrings, 1)

    @property
    def indefinite_percent(self) -> float:
        """The share of docstrings with an indefinite pronoun."""
        return 100 * len(self.indefinite) / max(self.docstrings, 1)


def measure(package: Path = PACKAGE) -> Language:
    """Read every module of `package` and return the lines to reword."""
    docstrings = 0
    openings: list[str] = []
    indefinite: list[str] = []
    participles: list[str] = []
    classes: dict[str, list[str]] = {}
    for path, node in _nodes(package):
        place = f"{path.relative_to(package.parent)}:{getattr(node, 'lineno', 1)}"
        text = (ast.get_docstring(node) or "").strip()
        first = text.partition("\n")[0]
        docstrings += bool(text)
        if OPENING.match(text):
            openings.append(f"{place}: {first}")
        if match := INDEFINITE.search(text):
            indefinite.append(f"{place}: {match[0]}: {first}")
        if isinstance(node, ast.ClassDef):
            classes.setdefault(node.name, []).append(f"{place}: class {node.name}")
        elif not isinstance(node, ast.Module) and _is_participle(node.name.strip("_")):
            participles.append(f"{place}: def {node.name}")
    return Language(
        docstrings=docstrings,
        openings=tuple(openings),
        indefinite=tuple(indefinite),
        participles=tuple(participles),
        repeated=tuple(one for places in classes.values() if len(places) > 1 for one in places),
    )


def _nodes(
    package: Path,
) -> Iterator[tuple[Path, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef]]:
    for path in sorted(package.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                yield path, node


def _is_participle(name: str) -> bool:
    return "_" not in name and (
        name in PARTICIPLES or (name.endswith("ed") and name not in ADJECTIVES)
    )


def main() -> None:
    """Print every line to rewrite and their number in each room."""
    language = measure()
    rooms: Counter[str] = Counter()
    for odd in (language.openings, language.indefinite, language.participles, language.repeated):
        for line in odd:
            rooms[line.split("/")[1].partition(":")[0]] += 1
            print(line)
    print(*(f"{room} {count}" for room, count in rooms.most_common()), sep=", ")


if __name__ == "__main__":
    main()
