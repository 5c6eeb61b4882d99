"""Build the models of MCP's versions, and of FastMCP's parts, when they are first used.

There are hundreds, of which a daemon uses a few dozen, and building all of them is
a seventh of its start.
"""

from __future__ import annotations

from contextlib import suppress


def build_on_demand() -> None:
    """Defer building the models of later imports; call this before importing `mcp`."""
    # A release that does not have these bases any more starts as slowly as it would by itself.
    with suppress(ImportError):
        from mcp_types._wire_base import WireModel  # noqa: PLC0415 - at its call, not at import

        WireModel.model_config["defer_build"] = True

    with suppress(ImportError):
        from fastmcp.utilities.types import FastMCPBaseModel  # noqa: PLC0415 - as above

        FastMCPBaseModel.model_config["defer_build"] = True
