from __future__ import annotations

import pytest
from pydantic import TypeAdapter, ValidationError

from widgetd.author.browser.keywords.show import Locale

locale = TypeAdapter(Locale)


@pytest.mark.parametrize("tag", ["de", "en-US", "zh-Hant-TW", "es-419", "yue"])
def test_locale_takes_language_script_and_region(tag: str) -> None:
    assert locale.validate_python(tag) == tag


@pytest.mark.parametrize("tag", ["", "\0", "zz-??", "en_US", "en-US\n", "e", "x" * 100_000, "en-"])
def test_locale_refuses_what_browsers_throw_for(tag: str) -> None:
    with pytest.raises(ValidationError):
        locale.validate_python(tag)
