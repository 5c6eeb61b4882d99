"""Build the models of MCP's versions, and of FastMCP's parts, at first use.

There are hundreds. A daemon uses a few dozen, and building all of them is a seventh of its start.
"""

from __future__ import annotations

from contextlib import suppress


def build_on_demand() -> None:
    """Defer building the models of later imports. Call this before importing `mcp`."""
    # A release without these bases starts as slowly as it would by itself.
    with suppress(ImportError):
        from mcp_types._wire_base import WireModel  # noqa: PLC0415 - at its call, not at import

        WireModel.model_config["defer_build"] = True

    with suppress(ImportError):
        from fastmcp.utilities.types import FastMCPBaseModel  # noqa: PLC0415 - as above

        FastMCPBaseModel.model_config["defer_build"] = True
