"""A chat with an agent that uses the widgets: the page here, its ChatKit server in `backend/`."""

from __future__ import annotations

OPENAI_URL = "https://api.openai.com/v1"
"""The default endpoint. It is ours and not the library's, whose default another program's
`OPENAI_BASE_URL` replaces: the key goes where `widgetd serve --settings` says."""
