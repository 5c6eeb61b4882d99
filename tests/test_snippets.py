"""What to paste where."""

from __future__ import annotations

import pytest

from widgetd.errors import ConfigError
from widgetd.snippets import HOSTS, snippet

URL = "http://127.0.0.1:9/mcp"


@pytest.mark.parametrize("host", HOSTS)
def test_every_host_is_told_where_the_daemon_is(host: str) -> None:
    assert URL in snippet(host, URL)


def test_a_host_is_known_however_it_is_written() -> None:
    assert snippet("Claude Code", URL) == f"claude mcp add --transport http widgetd {URL}"


def test_an_unknown_host_is_a_sentence_that_names_the_nearest() -> None:
    with pytest.raises(ConfigError) as caught:
        snippet("cursr", URL)

    assert str(caught.value) == "there is no snippet for 'cursr'; did you mean 'cursor'?"
