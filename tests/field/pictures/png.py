"""Write a picture of few colours as a small PNG.

Source: Portable Network Graphics (PNG) Specification, third edition, 5 and 11.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_BY_PALETTE = 3


def png(*, width: int, height: int, palette: Sequence[Sequence[int]], indices: bytes) -> bytes:
    """Return the picture as a PNG.

    Args:
        width: In pixels.
        height: In pixels.
        palette: At most 256 colours, each as red, green and blue.
        indices: Of each pixel's colour, row by row.
    """
    rows = (indices[at : at + width] for at in range(0, width * height, width))
    # Each row is preceded by the filter that it was put through: none.
    lines = b"".join(b"\0" + row for row in rows)
    return b"".join(
        (
            _SIGNATURE,
            _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, _BY_PALETTE, 0, 0, 0)),
            _chunk(b"PLTE", b"".join(map(bytes, palette))),
            _chunk(b"IDAT", zlib.compress(lines, 9)),
            _chunk(b"IEND", b""),
        )
    )


def _chunk(kind: bytes, content: bytes) -> bytes:
    check = zlib.crc32(kind + content)
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", check)


def size_of(png: bytes) -> tuple[int, int]:
    """Return the width and the height of a PNG, in pixels."""
    width, height = struct.unpack(">II", png[16:24])
    return width, height
