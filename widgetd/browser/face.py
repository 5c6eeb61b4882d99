"""The face that widgets are drawn in: Inter, which comes with widgetd.

ChatKit draws in what the system has, and a bare Linux has nothing like it. Letters that Inter has
not, as Arabic ones and emoji, are the system's.
"""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from importlib.resources import files

import orjson

FAMILY = "Inter"

FONTS = f'{FAMILY}, "Liberation Sans", Arimo, Arial, Helvetica, sans-serif'
"""What to draw in, as CSS has it."""

_ADD = """
(() => {
  if (!document.fonts || location.protocol === "about:" || NEEDLESS) return;
  for (const [unicodeRange, base64] of GIVEN) {
    const text = atob(base64);
    const bytes = new Uint8Array(text.length);
    for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
    document.fonts.add(new FontFace("FAMILY", bytes, { weight: "100 900", unicodeRange }));
  }
})();
"""


@cache
def face_script(*, framed: bool = False) -> str:
    """What gives the face to a document before anything in it runs; no policy has to allow it.

    Args:
        framed: Leave out what is in no frame; making the face takes a document a moment.
    """
    folder = files("widgetd.browser") / "inter"
    ranges: dict[str, str] = orjson.loads((folder / "unicode.json").read_bytes())
    given = [
        (covered, b64encode((folder / f"{subset}.woff2").read_bytes()).decode())
        for subset, covered in ranges.items()
    ]
    script = _ADD.replace("NEEDLESS", "top === window" if framed else "false")
    return script.replace("FAMILY", FAMILY).replace("GIVEN", orjson.dumps(given).decode())
