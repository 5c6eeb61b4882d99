"""A shop with its stock, its basket and its bookings in SQLite: the upstream of three widgets.

    widgetd chat examples/shop/widgets --upstreams examples/shop/upstreams.toml

Each changing tool looks its idempotency key up first, so a call that arrives twice is done once.
"""

from __future__ import annotations

import os
import sqlite3
import time
from typing import Any

import orjson
from fastmcp import Context, FastMCP
from fastmcp.exceptions import ToolError
from mcp_types import Annotations, CallToolResult, TextContent

mcp = FastMCP("market")
database = sqlite3.connect(os.environ.get("SHOP", "shop.sqlite3"), isolation_level=None)
database.executescript("""
    CREATE TABLE IF NOT EXISTS stock (sku TEXT PRIMARY KEY, name TEXT, price INT, left INT);
    CREATE TABLE IF NOT EXISTS basket (sku TEXT, name TEXT);
    CREATE TABLE IF NOT EXISTS bookings (code INTEGER PRIMARY KEY, name TEXT, day TEXT, goods TEXT);
    CREATE TABLE IF NOT EXISTS done (key TEXT PRIMARY KEY, answer TEXT);
    INSERT OR IGNORE INTO stock VALUES ('tea', 'Tea', 7, 9), ('mug', 'Mug', 12, 1),
        ('honey', 'Honey', 9, 4), ('bread', 'Bread', 5, 0);
""")


def once(context: Context, answer: dict[str, Any]) -> dict[str, Any]:
    """Remember the answer of this press, within the transaction of what it did."""
    meta: Any = context.request_context.meta if context.request_context else {}
    key = (meta or {}).get("widgetd/idempotencyKey", "")
    database.execute("INSERT INTO done VALUES (?, ?)", (key, orjson.dumps(answer).decode()))
    return answer


def shelf() -> dict[str, Any]:
    """Return what the shop has, what is in the basket, and its price."""
    stock = database.execute("SELECT sku, name, price, left FROM stock ORDER BY sku")
    goods = [dict(zip(("sku", "name", "price", "left"), row, strict=True)) for row in stock]
    lines = database.execute(
        "SELECT name, count(*), sum(price) FROM basket JOIN stock USING (sku, name) GROUP BY sku"
    )
    basket = [dict(zip(("name", "count", "price"), row, strict=True)) for row in lines]
    return {"goods": goods, "basket": basket, "total": sum(line["price"] for line in basket)}


@mcp.tool(annotations={"readOnlyHint": True})
async def browse() -> dict[str, Any]:
    """Return the goods and the basket."""
    return shelf()


@mcp.tool(title="Add to the basket")
async def add(sku: str, context: Context) -> Any:
    """Move one piece from the stock to the basket."""
    with database:
        database.execute("BEGIN IMMEDIATE")
        row = "UPDATE stock SET left = left - 1 WHERE sku = ? AND left > 0 RETURNING name"
        if (found := database.execute(row, (sku,)).fetchone()) is None:
            sold_out = TextContent(
                type="text", text="That is sold out.", annotations=Annotations(audience=["user"])
            )
            return CallToolResult(content=[sold_out], is_error=True)
        database.execute("INSERT INTO basket VALUES (?, ?)", (sku, found[0]))
        return once(context, shelf())


@mcp.tool(title="Book a pick-up")
async def book(name: str, day: str, context: Context) -> dict[str, Any]:
    """Book a pick-up of everything in the basket."""
    with database:
        database.execute("BEGIN IMMEDIATE")
        bought = shelf()
        if not bought["basket"]:
            raise ToolError("the basket is empty")
        goods = ", ".join(f"{line['count']} × {line['name']}" for line in bought["basket"])
        row = "INSERT INTO bookings (name, day, goods) VALUES (?, ?, ?)"
        code = database.execute(row, (name, day, goods)).lastrowid
        database.execute("DELETE FROM basket")
        receipt = {"code": f"P-{code}", "day": day, "booked": bought["basket"]}
        return once(context, {**receipt, "paid": bought["total"], **shelf()})


@mcp.tool(annotations={"readOnlyHint": True})
async def next_vans() -> dict[str, Any]:
    """Return the vans that leave next."""
    minutes = 5 - int(time.time() // 2) % 5
    return {
        "vans": [{"to": "Harbour", "minutes": minutes}, {"to": "Old town", "minutes": minutes + 4}]
    }


if __name__ == "__main__":
    mcp.run(show_banner=False)
