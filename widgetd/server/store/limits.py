"""Limits and times of the store beyond settings. Those of an operator are in `Bounds`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreLimits:
    """Limits and times of the store.

    Attributes:
        clock_step_s: A stored time further ahead than this was written before the clock was set
            back. Replicas' clocks differ by less.
        mapped_versions: Recent versions of a render with usable buttons, counted by the arguments
            behind the buttons.
        mapped_bytes: Size of the arguments kept for them.
        keys_per_action: Idempotency keys remembered for each place in a queue of actions.
        slot_retry_s: Time until a refused caller should try again for a slot. A call takes less,
            and its end is unknown.
        clock_tick_s: Resolution of clocks. A caller who returns exactly on time must not be refused
            for the last bit of a float.
        slot_lease_s: Time after which a slot on the server is free again. A killed replica releases
            none.
        bucket_s: Time after which an unused bucket is forgotten, however slowly it fills.
        command_s: Time for a command before the server counts as away. Answers and stalls of our
            own event loop take far less.
        first_pause_s: Pause before the second attempt to reach the server. It doubles each time.
        last_pause_s: Longest such pause.
        block_s: Duration of a blocking read of notifications. A dead connection is noticed after
            it.
        commands: Commands on the wire at the same time. More would queue in the server.
        deliveries: Actions waiting for the webhook.
        delivery_backoff_s: Pauses after failed deliveries. A restarted receiver is back within
            minutes.
        delivery_s: Time for a delivery, from resolving the address to the status.
        requests: New deliveries at the same time, and as many repeated deliveries.
        secret_chars: Minimum length of a webhook's secret.
    """

    clock_step_s: float = 60.0
    mapped_versions: int = 8
    mapped_bytes: int = 256 * 1024
    keys_per_action: int = 16
    slot_retry_s: float = 1.0
    clock_tick_s: float = 1e-6
    slot_lease_s: int = 120
    bucket_s: int = 86_400
    command_s: float = 0.25
    first_pause_s: float = 0.1
    last_pause_s: float = 5.0
    block_s: float = 1.0
    commands: int = 16
    deliveries: int = 1_000
    delivery_backoff_s: tuple[float, ...] = (1.0, 5.0, 30.0, 120.0, 600.0)
    delivery_s: float = 10.0
    requests: int = 16
    secret_chars: int = 24


LIMITS = StoreLimits()
