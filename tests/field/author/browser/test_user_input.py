"""User input appears in no picture's answer and in no other principal's session."""

from __future__ import annotations

from pathlib import Path

from tests.field.server.web.browsing import needs_browser
from tests.system.chat.test_user_input import IN_A_BROWSER
from tests.system.chat.user_input import PAYLOAD, SECRETS, outputs_after_input
from widgetd.server.mcp.builtin.table import CORE

pytestmark = needs_browser


async def test_tools_of_the_browser_show_no_password_and_no_sensitive_field(tmp_path: Path) -> None:
    outputs = await outputs_after_input(tmp_path, {CORE, *IN_A_BROWSER})
    leaks = {
        (name, one) for name, text in outputs.texts().items() for one in SECRETS if one in text
    }

    assert leaks == set()
    assert PAYLOAD in outputs.awaited_payloads
    assert '"is_error":false' in outputs.responses["start_session"]
    assert '"is_error":false' in outputs.responses["take_picture"]
