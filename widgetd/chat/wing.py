"""The wing `chat`: an agent for the widgets, on a page beside the gallery."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from widgetd.base.errors import ConfigError
from widgetd.chat.preflight import ChatOptions, read_instructions, require_key
from widgetd.server.wing import Services, Wing, WingHost

if TYPE_CHECKING:
    from widgetd.author.gallery.gallery import Gallery
    from widgetd.chat.pages import Chat
    from widgetd.server.web.guard import Guard
    from widgetd.server.web.page import PageRoute


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatParts(Services):
    """The chat, and the gallery with the frames of its widgets."""

    chat: Chat
    gallery: Gallery

    def routes(self, guard: Guard) -> Sequence[PageRoute]:
        # Imported late: most daemons have no chat.
        from widgetd.chat.pages import chat_routes  # noqa: PLC0415

        return chat_routes(self.chat, self.gallery, guard)

    async def start_late(self) -> None:
        await self.chat.open()

    def close(self) -> None:
        self.chat.close()


class ChatWing(Wing[ChatOptions]):
    """A chat with an agent. Its frames are those of the gallery, built by `author`."""

    options = ChatOptions

    def check(self, options: ChatOptions) -> None:
        if options.chat:
            has_key = options.chat_key is not None
            require_key(options.chat_model, options.chat_url.get_secret_value(), has_key=has_key)
            read_instructions(options.chat_instructions)

    def open(self, options: ChatOptions, host: WingHost) -> ChatParts | None:
        if not options.chat or not host.url:
            return None
        self.check(options)
        # Imported late: most daemons have no chat.
        from widgetd.author.build import AuthorParts  # noqa: PLC0415
        from widgetd.chat.build import build_chat  # noqa: PLC0415

        author = host.find(AuthorParts)
        if author is None or author.gallery is None:
            problem = "the chat draws in frames of the gallery, and this daemon has none"
            raise ConfigError("W0011", problem, "install widgetd with its wing author")
        return ChatParts(chat=build_chat(options, host), gallery=author.gallery)
