"""The reference says what the code says; where it is stale, `make reference` writes it anew."""

from __future__ import annotations

from tests.field.reference.pages import FOLDER, pages


async def test_every_page_of_the_reference_is_what_the_code_says() -> None:
    made = await pages()

    stale = [
        name
        for name, text in made.items()
        if not (FOLDER / name).exists() or (FOLDER / name).read_text(encoding="utf-8") != text
    ]
    assert stale == [], "make reference"
    assert {path.name for path in FOLDER.glob("*.md")} == made.keys()
