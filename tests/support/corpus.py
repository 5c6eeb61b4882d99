"""Real `.widget` files beside the repository, if there are any."""

from __future__ import annotations

from pathlib import Path

import pytest

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus"

needs_corpus = pytest.mark.skipif(
    not CORPUS.is_dir(),
    reason="needs the corpus of real .widget files in ../shared/corpus, which is not here",
)


def corpus_files() -> list[Path]:
    """Return every `.widget` file of the corpus, sorted; empty without a corpus."""
    return sorted(CORPUS.rglob("*.widget"))
