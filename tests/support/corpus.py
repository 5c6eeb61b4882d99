"""Find the real `.widget` files that lie beside the repository, where they do."""

from __future__ import annotations

from pathlib import Path

import pytest

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus"

needs_corpus = pytest.mark.skipif(
    not CORPUS.is_dir(),
    reason="needs the corpus of real .widget files in ../shared/corpus, which is not here",
)


def corpus_files() -> list[Path]:
    """Every `.widget` file of the corpus in sorted order; none where there is no corpus."""
    return sorted(CORPUS.rglob("*.widget"))
