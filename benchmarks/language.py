"""Measure the package's English: `python -m benchmarks.language` lists what to rewrite."""

from __future__ import annotations

import ast
import re
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

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

PRONOUNS = frozenset(["one", "ones", "each", "found", "given", "known", "made", "shown", "asked"])
"""Names that say how a value came, and not what it is."""

RELATIVES = frozenset(["that", "which", "who", "whose"])

_NO_PROSE = re.compile(r"#\s*(noqa|type:|pragma|!)")

WINGS = ("base", "core", "server", "upstreams", "author", "chat")
"""The folders of the package below the shell."""

PARTICIPLES = frozenset(_PARTICIPLES.split())
ADJECTIVES = frozenset(_ADJECTIVES.split())
"""Words that end as a participle does and are good names of functions."""

Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


class Prose(NamedTuple):
    """Counts in docstrings and comments per 1,000 of their words."""

    relatives: float
    ones: float
    semicolons: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """Lines of the package to reword, each as `path:line: text`.

    Attributes:
        docstrings: The number of docstrings.
        openings: Docstrings that open with a question word or a preposition.
        indefinite: Docstrings that say *whoever*, *nobody*, *somebody* or *anybody*.
        participles: Functions that are named by a past participle.
        repeated: Classes whose name another class has.
        pronouns: Variables, parameters and attributes named by a pronoun or a participle.
        prose: The counts of each wing.
    """

    docstrings: int
    openings: tuple[str, ...]
    indefinite: tuple[str, ...]
    participles: tuple[str, ...]
    repeated: tuple[str, ...]
    pronouns: tuple[str, ...]
    prose: Mapping[str, Prose]

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
    pronouns: list[str] = []
    texts: dict[str, list[str]] = {}
    for path, node in _nodes(package):
        place = f"{path.relative_to(package.parent)}:{getattr(node, 'lineno', 1)}"
        if isinstance(node, ast.Name | ast.Attribute | ast.arg):
            if (name := _name_of(node)) in PRONOUNS:
                pronouns.append(f"{place}: {name}")
            continue
        if isinstance(node, ast.Module):
            texts.setdefault(wing_of(path, package), []).extend(_comments(path))
        text = (ast.get_docstring(node) or "").strip()
        texts[wing_of(path, package)].append(text)
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
        repeated=tuple(place for places in classes.values() if len(places) > 1 for place in places),
        pronouns=tuple(pronouns),
        prose={wing: _count(texts[wing]) for wing in sorted(texts)},
    )


def wing_of(path: Path, package: Path = PACKAGE) -> str:
    """Return the wing of a module, or `shell` for what stands above them."""
    first = path.relative_to(package).parts[0]
    return first if first in WINGS else "shell"


def _count(texts: Iterable[str]) -> Prose:
    text = "\n".join(texts)
    words = Counter(re.findall(r"[a-z']+", text.lower()))
    counts = (
        sum(words[word] for word in RELATIVES),
        words["one"] + words["ones"],
        text.count(";"),
    )
    return Prose(*(round(1000 * count / max(words.total(), 1), 1) for count in counts))


def _comments(path: Path) -> Iterator[str]:
    with path.open(encoding="utf-8") as lines:
        for token in tokenize.generate_tokens(lines.readline):
            if token.type == tokenize.COMMENT and not _NO_PROSE.match(token.string):
                yield token.string


def _name_of(node: ast.Name | ast.Attribute | ast.arg) -> str:
    if isinstance(node, ast.arg):
        return node.arg
    name = node.id if isinstance(node, ast.Name) else node.attr
    return name if isinstance(node.ctx, ast.Store) else ""


def _nodes(
    package: Path,
) -> Iterator[tuple[Path, Documented | ast.Name | ast.Attribute | ast.arg]]:
    for path in sorted(package.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, Documented | ast.Name | ast.Attribute | ast.arg):
                yield path, node


def _is_participle(name: str) -> bool:
    return "_" not in name and (
        name in PARTICIPLES or (name.endswith("ed") and name not in ADJECTIVES)
    )


def main() -> None:
    """Print every line to rewrite and their number in each room."""
    language = measure()
    rooms: Counter[str] = Counter()
    for odd in (
        language.openings,
        language.indefinite,
        language.participles,
        language.repeated,
        language.pronouns,
    ):
        for line in odd:
            rooms[line.split("/")[1].partition(":")[0]] += 1
            print(line)
    print(*(f"{room} {count}" for room, count in rooms.most_common()), sep=", ")
    for wing, prose in language.prose.items():
        print(f"{wing:11}", *(f"{name} {count}" for name, count in prose._asdict().items()))


if __name__ == "__main__":
    main()
