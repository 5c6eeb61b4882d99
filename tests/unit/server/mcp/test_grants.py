"""A file of tokens, as people write it and get it wrong."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from widgetd.base.errors import ConfigError
from widgetd.server.access.auth import find_principal, read_grants
from widgetd.server.access.principal import CALL, GALLERY, READ
from widgetd.server.catalog.snapshot import Selection

ADA, KIOSK = "ada-ada-ada-ada-ada", "kiosk-kiosk-kiosk"


def write_tokens(folder: Path, text: str) -> Path:
    path = folder / "tokens"
    path.write_text(text)
    return path


def test_line_grants_its_scopes_and_some_widgets_only(tmp_path: Path) -> None:
    text = f"# who\n\nada {ADA}\nkiosk {KIOSK} gallery include=travel,a exclude=b\n"
    grants = read_grants(write_tokens(tmp_path, text))

    ada, kiosk = find_principal(grants, ADA), find_principal(grants, KIOSK)

    assert ada is not None
    assert kiosk is not None
    assert (ada.name, ada.scopes, ada.selection) == ("ada", frozenset({READ, CALL}), Selection())
    assert (kiosk.name, kiosk.scopes) == ("kiosk", frozenset({GALLERY}))
    assert kiosk.selection == Selection(
        include=frozenset({"travel", "a"}), exclude=frozenset({"b"})
    )
    assert find_principal(grants, "somebody-else-entirely") is None


def test_token_itself_is_not_stored(tmp_path: Path) -> None:
    assert ADA not in repr(read_grants(write_tokens(tmp_path, f"ada {ADA}")))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("ada\n", "line 1 of the token file has no token; write NAME TOKEN SCOPES"),
        (
            "\nada secret\n",
            "line 2 of the token file has a token that can be guessed; make it 16 long",
        ),
        (
            f"ada {ADA} widget:read",
            (
                "line 1 of the token file grants widget:read, which is no scope; "
                "did you mean widgets:read?"
            ),
        ),
        (
            f"ada {ADA} only=travel",
            (
                "line 1 of the token file says only=, which means nothing; "
                "write include=TAG,NAME or exclude=TAG,NAME"
            ),
        ),
    ],
)
def test_unusable_line_is_named_without_its_token(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(ConfigError) as raised:
        read_grants(write_tokens(tmp_path, text))

    assert (raised.value.code, str(raised.value)) == ("W0010", problem)


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir], ids=["a pipe", "a folder"])
def test_unreadable_grant_is_refused_at_once(make: Callable[[Path], None], tmp_path: Path) -> None:
    make(tmp_path / "tokens")

    with pytest.raises(ConfigError) as caught:
        read_grants(tmp_path / "tokens")
    assert caught.value.code == "W0006"
    assert str(caught.value).startswith(f"the token file {tmp_path / 'tokens'} cannot be read")
