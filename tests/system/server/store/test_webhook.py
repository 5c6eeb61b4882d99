"""Webhooks: a backend gets each action, signed, and no other receiver does."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from ipaddress import ip_address
from typing import Any

import anyio
import pytest

from tests.support.logs import captured_logs
from tests.support.patience import PATIENCE_S
from tests.system.server.store.receiver import SLOW, Receiver, dripping, receiving, receiving_slowly
from tests.system.server.store.replicas import Clock, stored_render
from widgetd.base.errors import ConfigError
from widgetd.server.store.delivery.addresses import is_public
from widgetd.server.store.delivery.forward import Forwarder
from widgetd.server.store.delivery.webhook import Client, Webhook, parse_webhook
from widgetd.server.store.factory import local_store
from widgetd.server.store.limits import LIMITS

SECRET = "a secret of some length, at least"


def hook_of(receiver: Receiver, *, secret: str = SECRET, **more: Any) -> Webhook:
    """Return the receiver's webhook, with retries without a delay."""
    hook = parse_webhook(receiver.url, secret, allow_private=True)
    return replace(hook, **({"backoff_s": (0.0, 0.0)} | more))


@asynccontextmanager
async def forwarding(hook: Webhook) -> AsyncIterator[Forwarder]:
    forwarder = Forwarder(local_store(clock=Clock()), hook, clock=Clock())
    await forwarder.store.renders.put(stored_render("r1"))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(forwarder.forward)
        yield forwarder
        tasks.cancel_scope.cancel()


async def test_webhook_gets_the_signed_action_which_still_waits_for_its_reader() -> None:
    async with receiving() as receiver, forwarding(hook_of(receiver)) as webhook:
        actions = webhook.store.actions
        await actions.append("r1", "flight.track", {"number": "PA 845"}, idempotency_key="k")
        await receiver.wait_for_requests(1)
        read = await actions.read("r1", timeout_s=0)

    [request] = receiver.requests
    assert request.message == {
        "type": "widget.action",
        "timestamp": "2023-11-14T22:13:20+00:00",
        "data": {
            "renderId": "r1",
            "widget": "flight_tracker",
            "seq": 1,
            "action": "flight.track",
            "payload": {"number": "PA 845"},
        },
    }
    assert request.headers["webhook-id"] == "r1.1"
    assert request.headers["webhook-timestamp"] == "1700000000"
    assert request.headers["host"] == receiver.url.split("/")[2]
    assert request.is_signed_with(SECRET.encode())
    assert [action.payload for action in read.actions] == [{"number": "PA 845"}]


async def test_secret_may_be_base64_as_webhook_libraries_expect() -> None:
    key = bytes(range(24))
    secret = f"whsec_{base64.b64encode(key).decode()}"
    async with receiving() as receiver, Client() as client:
        hook = hook_of(receiver, secret=secret)
        assert await client.deliver(hook, "m1", b"{}", clock=Clock())

    assert receiver.requests[0].is_signed_with(key)


async def test_webhook_is_retried_until_the_receiver_accepts() -> None:
    answers = ("503 Later", "429 Slower", "200 Ok")
    async with receiving(*answers) as receiver, Client() as client:
        with anyio.fail_after(PATIENCE_S):
            assert await client.deliver(hook_of(receiver), "m1", b"{}", clock=Clock())

    assert [request.headers["webhook-id"] for request in receiver.requests] == ["m1", "m1", "m1"]


@pytest.mark.parametrize(
    ("status", "times"), [("400 No", 1), ("308 Elsewhere", 1), ("500 Broken", 3)]
)
async def test_permanent_failure_ends_the_retries_with_one_log_line(
    status: str, times: int
) -> None:
    async with receiving(status) as receiver, Client() as client:
        with anyio.fail_after(PATIENCE_S), captured_logs() as events:
            assert not await client.deliver(hook_of(receiver), "m1", b"{}", clock=Clock())

    assert len(receiver.requests) == times
    assert events.all == [
        {
            "level": "warning",
            "event": "webhook.failed",
            "id": "m1",
            "problem": f"the receiver answered {status[:3]}",
        }
    ]


async def test_unreachable_receiver_is_retried_and_given_up() -> None:
    async with receiving() as receiver:
        hook = hook_of(receiver)
    async with Client() as client:
        with anyio.fail_after(PATIENCE_S), captured_logs() as events:
            assert not await client.deliver(hook, "m1", b"{}", clock=Clock())

    assert [event["problem"].partition(":")[0] for event in events.all] == ["ConnectError"]


async def test_webhook_to_this_machine_needs_permission() -> None:
    async with receiving() as receiver, Client() as client:
        hook = hook_of(receiver, allow_private=False)
        with anyio.fail_after(PATIENCE_S), captured_logs() as events:
            assert not await client.deliver(hook, "m1", b"{}", clock=Clock())

    assert receiver.requests == []
    [event] = events.all
    assert event["problem"] in {
        f"localhost is at {address}, which is not a public address"
        for address in ("127.0.0.1", "::1")
    }


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "224.0.0.1",
        "255.255.255.255",
        "::1",
        "::",
        "fe80::1",
        "fd00::1",
        "ff02::1",
        "::ffff:127.0.0.1",
        "::ffff:169.254.169.254",
        "64:ff9b::7f00:1",
        "2002:7f00:1::",
    ],
)
def test_partly_reachable_address_is_not_public(address: str) -> None:
    assert not is_public(ip_address(address))


@pytest.mark.parametrize("address", ["1.1.1.1", "2606:4700::1111", "64:ff9b::101:101"])
def test_globally_reachable_address_is_public(address: str) -> None:
    assert is_public(ip_address(address))


@pytest.mark.parametrize(
    ("url", "secret", "private", "sentence"),
    [
        (
            "http://hooks.example",
            SECRET,
            False,
            ("the webhook's address cannot be used; write an address that begins with https://"),
        ),
        (
            "hooks.example",
            SECRET,
            True,
            (
                "the webhook's address cannot be used; "
                "write an address that begins with https:// or http://"
            ),
        ),
        (
            "https://hooks.example",
            "short",
            False,
            (
                "the webhook's secret is shorter than 24 characters; "
                "set WIDGETD_WEBHOOK_SECRET to a long random text"
            ),
        ),
    ],
)
def test_unusable_webhook_is_refused_at_the_start(
    url: str, secret: str, private: bool, sentence: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_webhook(url, secret, allow_private=private)

    assert str(caught.value) == sentence


async def test_full_outbox_delays_no_call() -> None:
    async with receiving() as receiver:
        forwarder = Forwarder(local_store(), hook_of(receiver), most_waiting=1)
        with captured_logs() as events:
            for number in range(2):
                key = str(number)
                await forwarder.store.actions.append("r1", "tap", number, idempotency_key=key)
        read = await forwarder.store.actions.read("r1", timeout_s=0)
        forwarder.close()

    assert [action.payload for action in read.actions] == [0, 1]
    assert [(event["id"], event["problem"]) for event in events.all] == [
        ("r1.2", "too many deliveries are waiting")
    ]


@pytest.mark.parametrize("how", SLOW)
@pytest.mark.parametrize("size", [2, 10_000_000])
async def test_slow_receiver_has_one_deadline_for_each_attempt(how: str, size: int) -> None:
    async with receiving_slowly(SLOW[how]) as receiver, Client() as client:
        hook = hook_of(receiver, timeout_s=0.2)
        with anyio.fail_after(PATIENCE_S), captured_logs() as events:
            assert not await client.deliver(hook, "m1", b"x" * size, clock=Clock())

    assert len(receiver.requests) == 3
    assert [(event["id"], event["problem"]) for event in events.all] == [
        ("m1", "the receiver did not answer within 0.2 s")
    ]


async def test_accepted_delivery_does_not_wait_for_a_slow_body() -> None:
    slow = dripping(b"HTTP/1.1 200 Ok\r\ntransfer-encoding: chunked\r\n\r\n", b"1\r\na\r\n")
    async with receiving_slowly(slow) as receiver, Client() as client:
        hook = hook_of(receiver, timeout_s=2 * PATIENCE_S)
        with anyio.fail_after(PATIENCE_S):
            assert await client.deliver(hook, "m1", b"{}", clock=Clock())

    assert len(receiver.requests) == 1


@pytest.mark.parametrize(
    ("backoff_s", "timeout_s"),
    [((600.0,), 1.0), ((0.0,) * 10_000, 0.2)],
    ids=["rests", "tries at once"],
)
async def test_unread_actions_do_not_delay_the_others(
    backoff_s: tuple[float, ...], timeout_s: float
) -> None:
    """The receiver never answers one kind of action, and gets all others."""
    bad, good = 4 * LIMITS.requests, 20
    async with receiving() as receiver:
        receiver.ignored = b'"bad"'
        hook = hook_of(receiver, backoff_s=backoff_s, timeout_s=timeout_s)
        async with forwarding(hook) as webhook:
            append = webhook.store.actions.append
            for number in range(bad):
                await append("r1", "bad", None, idempotency_key=str(number))
            # All of them were sent once, so that all that is new is good.
            await receiver.wait_for_requests(bad)
            before = len(receiver.requests)
            for number in range(good):
                await append("r2", "good", None, idempotency_key=str(number))
                await receiver.wait_for_answers(number + 1)
            meanwhile = len(receiver.requests) - before - good

    assert meanwhile <= good * bad / 4, "each would have waited for a turn of all the bad ones"


async def test_undelivered_actions_are_counted_and_delay_nothing() -> None:
    async with receiving() as receiver:
        hook = hook_of(receiver)
    async with forwarding(hook) as webhook, anyio.create_task_group() as tasks:
        await webhook.store.actions.append("r1", "a", {}, idempotency_key="k")
        waiting = webhook.waiting
        tasks.start_soon(webhook.finish)
    assert (waiting, webhook.waiting, webhook.failures) == (1, 0, 1)
