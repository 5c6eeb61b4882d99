"""A full-text index of documents with weighted texts.

Scores are BM25 with a weight for each text. An unknown query word is replaced by its synonyms, by
words with two of its letters swapped, by words with one other letter, or by words with the same
beginning. So typing errors and other forms of a word still match. Two neighbouring words also count
as a single word, as in `check out`. A search visits only documents with a word of the query, and an
update costs the words of the changed documents.

Source: Robertson and Zaragoza, "The Probabilistic Relevance Framework" (2009).
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from heapq import nlargest
from itertools import pairwise
from math import log
from typing import Generic, NamedTuple, Self, TypeVar

from widgetd.base.files.persistent_map import list_differing, list_missing
from widgetd.base.text_search import common_ends, compile_pattern, read_tokens
from widgetd.server.search.synonyms import STOP_WORDS, SYNONYMS

Document = TypeVar("Document")

Texts = Callable[[Document], Iterable[tuple[int, str]]]
"""Returns the texts of a document, each with its weight."""

ALIAS = 0.5
"""Weight of a match of a synonym."""

SWAPPED = 0.7
"""Weight of a match of a word with two neighbouring letters swapped."""

ALIKE = 0.5
"""Dice coefficient of two words' trigrams from which one may be a misspelling of the other."""

FLOOR = 0.3
"""Hits below this share of the best score are dropped."""

FITS = 0.1
"""Without a hit above this share of the maximum score, there is no hit at all."""

STRANGE = 0.2
"""Share of the maximum score that a word without any match counts. People name places, people and
things in a wish, which are in no description and say nothing against a widget."""

SHORTEST_STEM = 5
"""Letters with which another form of a word begins, as in `depart` and `departure`."""

LONGEST_QUESTION = 2_048
"""Characters of a query that are searched."""

# Words are kept in a cache, so a longer run of letters counts as several words.
_WORD = compile_pattern(r"[^\W_]{1,64}")
_ADDRESS = compile_pattern(r"(?<![\w.+-])[\w.+-]++@[\w.-]++")
_CAMEL = compile_pattern(r"(?<=[a-z\d])(?=[A-Z])")
# Without the lookbehind, a match from each letter of a long word would take quadratic time.
_HYPHENATED = compile_pattern(r"(?<!\w)\w++(?:-\w++)+")
_PLURALS = (
    *(("ies", "y"), ("sses", "ss"), ("shes", "sh"), ("ches", "ch"), ("xes", "x")),
    *(("ss", "ss"), ("s", "")),
)
_ENDINGS = (("ing", ""), ("ion", ""), ("ed", ""), ("ector", "ect"))
_SATURATION = 2.0
_LENGTH = 0.6


class _Term(NamedTuple):
    """A word of a query: its maximum score, its best possible score here, and its postings."""

    asks: float
    most: float
    postings: Sequence[tuple[float, Mapping[str, int]]]


class SearchIndex(Generic[Document]):
    """An inverted index: documents and weights by word."""

    def __init__(self, texts: Texts[Document]) -> None:
        self._texts = texts
        self._documents: Mapping[str, Document] = {}
        self._postings: dict[str, dict[str, int]] = {}
        self._lengths: dict[str, int] = {}
        self._length = 0
        # Built at the first unknown query word and maintained from then on.
        self._trigrams: dict[str, set[str]] | None = None

    def following(self, documents: Mapping[str, Document]) -> Self:
        before, self._documents = self._documents, documents
        for key in list_missing(before, documents):
            self._remove(key, before[key])
        for key in list_differing(before, documents):
            if key in before:
                self._remove(key, before[key])
            self._add(key, documents[key])
        return self

    def scores(self, question: str) -> Mapping[str, float]:
        query = self._read_question(question)
        terms = sorted((self._term(word) for word in query), key=lambda term: -term.most)
        shortest = _SATURATION * (1 - _LENGTH)
        longer = _SATURATION * _LENGTH * len(self._lengths) / max(self._length, 1)
        scores: dict[str, float] = {}
        best, rest = 0.0, sum(term.most for term in terms)
        for term in terms:
            # A document without any earlier word can no longer reach the floor.
            candidates = scores.keys() if rest < FLOOR * best else None
            rest -= term.most
            matches: dict[str, float] = {}
            for worth, posting in term.postings:
                keys = posting if candidates is None else candidates & posting.keys()
                for key in keys:
                    weight = posting[key]
                    score = worth * weight / (weight + shortest + longer * self._lengths[key])
                    # Synonyms count as a single match.
                    if score > matches.get(key, 0.0):
                        matches[key] = score
            for key, score in matches.items():
                scores[key] = scores.get(key, 0.0) + score
            best = max(scores.values(), default=0.0)
        if best < FITS * sum(term.asks for term in terms):
            return {}
        return {key: round(score, 3) for key, score in scores.items() if score >= FLOOR * best}

    def best_text(self, question: str, key: str) -> str:
        """Return the text with the largest share in a document's score, empty if none does."""
        meanings = [self._meanings(word) for word in self._read_question(question)]

        def score(weighted: tuple[int, str]) -> float:
            weight, text = weighted
            own = set(words(text))
            worths = (
                max(
                    (
                        meant[word] * self._rarity(len(self._postings[word]))
                        for word in own & meant.keys()
                    ),
                    default=0.0,
                )
                for meant in meanings
            )
            return weight * sum(worths)

        best = max(self._texts(self._documents[key]), key=score)
        return best[1] if score(best) else ""

    def _read_question(self, question: str) -> Iterable[str]:
        # The words of an e-mail address are names. The query is about e-mail.
        text = _ADDRESS.sub(" email ", question[:LONGEST_QUESTION])
        spoken = _fold(text)
        pairs = (_stem(first + second) for first, second in pairwise(spoken))
        joined = (pair for pair in pairs if pair in self._postings or pair in _aliases())
        return dict.fromkeys(word for word in (*words(text), *joined) if not word.isdigit())

    def _term(self, word: str) -> _Term:
        meanings = self._meanings(word)
        postings = [(worth, self._postings[meaning]) for meaning, worth in meanings.items()]
        having = len(set().union(*(posting for _, posting in postings)))
        worths = [
            (worth * self._rarity(len(posting)) * (_SATURATION + 1), posting)
            for worth, posting in postings
        ]
        return _Term(
            asks=self._rarity(having) * (_SATURATION + 1) * (1 if having else STRANGE),
            most=max((worth for worth, _ in worths), default=0.0),
            postings=worths,
        )

    def _rarity(self, having: int) -> float:
        return log(1 + (len(self._lengths) - having + 0.5) / (having + 0.5))

    def _meanings(self, word: str) -> Mapping[str, float]:
        meanings = {alias: ALIAS for alias in _aliases().get(word, ()) if alias in self._postings}
        if word in self._postings:
            return {**meanings, word: 1.0}
        return meanings or self._alike(word)

    def _alike(self, word: str) -> Mapping[str, float]:
        if len(word) < 4:
            return {}
        if self._trigrams is None:
            self._trigrams = {}
            for indexed in self._postings:
                self._spell(indexed)
        # A swap changes four trigrams. A short word would share none with its original.
        swapped = {
            word[:at] + word[at + 1] + word[at] + word[at + 2 :] for at in range(len(word) - 1)
        }
        if meant := swapped & self._postings.keys():
            return dict.fromkeys(meant, SWAPPED)
        grams = trigrams(word)
        shared = Counter(other for gram in grams for other in self._trigrams.get(gram, ()))
        likeness = {
            other: 2 * count / (len(grams) + len(trigrams(other)))
            for other, count in shared.items()
        }
        return {
            other: dice * dice
            for other, dice in likeness.items()
            if dice >= ALIKE and _is_same_word(word, other)
        }

    def _spell(self, word: str) -> None:
        if self._trigrams is not None:
            for gram in trigrams(word):
                self._trigrams.setdefault(gram, set()).add(word)

    def _add(self, key: str, document: Document) -> None:
        counted = self._count(document)
        self._lengths[key] = sum(counted.values())
        self._length += self._lengths[key]
        for word, weight in counted.items():
            if word not in self._postings:
                self._postings[word] = {}
                self._spell(word)
            self._postings[word][key] = weight

    def _remove(self, key: str, document: Document) -> None:
        self._length -= self._lengths.pop(key)
        for word in self._count(document):
            posting = self._postings[word]
            del posting[key]
            if posting:
                continue
            del self._postings[word]
            if self._trigrams is not None:
                for gram in trigrams(word):
                    self._trigrams[gram].discard(word)

    def _count(self, document: Document) -> Mapping[str, int]:
        counted: dict[str, int] = {}
        for weight, text in self._texts(document):
            for word in words(text):
                counted[word] = counted.get(word, 0) + weight
        return counted


def best_of(scores: Mapping[str, float], limit: int) -> list[str]:
    # Only candidates are sorted by key. There may be many thousand scores.
    least = min(nlargest(limit, scores.values()), default=0.0)
    best = (key for key, score in scores.items() if score >= least)
    return sorted(best, key=lambda key: (-scores[key], key))[:limit]


def words(text: str) -> list[str]:
    """Split `text` into folded words without stop words. CamelCase names are split, too."""
    # `e-mail` is also indexed as `email`, `multi-choice` also by its parts.
    joined = " ".join(word[0] for word in read_tokens(_HYPHENATED, text)).replace("-", "")
    return [_stem(word) for word in _fold(f"{text} {joined}") if word not in STOP_WORDS]


def _fold(text: str) -> list[str]:
    plain = unicodedata.normalize("NFKD", _CAMEL.sub(" ", text)).casefold()
    base = "".join(char for char in plain if not unicodedata.combining(char))
    return [word[0] for word in read_tokens(_WORD, base)]


def _is_same_word(word: str, other: str) -> bool:
    """Return whether a word is a form of the other, or differs in a letter but the first."""
    shorter, longer = sorted((word, other), key=len)
    if len(shorter) >= SHORTEST_STEM and longer.startswith(shorter):
        return True
    begun, ended = common_ends(shorter, longer)
    return begun > 0 and len(longer) >= SHORTEST_STEM and len(longer) - begun - ended <= 1


@lru_cache(maxsize=4096)
def _stem(word: str) -> str:
    """Strip common English endings: `flights` finds `flight` and `prices` finds `price`."""
    for ending, instead in _PLURALS:
        if word.endswith(ending) and len(word) - len(ending) + len(instead) >= 3:
            word = word.removesuffix(ending) + instead
            break
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            stem = word.removesuffix(ending) + instead
            # `planning` -> `plan`
            doubled = ending in ("ing", "ed") and stem[-1] == stem[-2] and stem[-1] not in "ls"
            return stem[:-1] if doubled else stem
    return word.removesuffix("e") if len(word) > 5 else word


@lru_cache(maxsize=4096)
def trigrams(word: str) -> frozenset[str]:
    padded = f"  {word} "
    return frozenset(padded[at : at + 3] for at in range(len(padded) - 2))


@lru_cache(maxsize=1)
def _aliases() -> Mapping[str, frozenset[str]]:
    same: dict[str, set[str]] = {}
    for words_alike in SYNONYMS:
        group = [_stem(word) for word in words_alike]
        for word in group:
            same.setdefault(word, set()).update(group)
    return {word: frozenset(group - {word}) for word, group in same.items()}
