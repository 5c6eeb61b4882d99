"""The clocks of the system."""

from __future__ import annotations

import time

# CLOCK_REALTIME_COARSE, which `time` does not name; it ticks every 1 to 10 ms.
_COARSE = 5


class Clock:
    """Clocks, and the pause of a worker thread. The event loop has its own pause.

    Methods:
        wall_s, wall_ns: Time since the epoch; an operator may set it.
        steady_s, steady_ns: Time since some moment; it never goes back.
        thread_s: Processor time of this thread.
        sleep: Pause this thread.
    """

    wall_s = staticmethod(time.time)
    wall_ns = staticmethod(time.time_ns)
    steady_s = staticmethod(time.perf_counter)
    steady_ns = staticmethod(time.perf_counter_ns)
    thread_s = staticmethod(time.thread_time)
    sleep = staticmethod(time.sleep)

    def dates_ns(self) -> int:
        """Return the wall clock as the kernel dates writes by it; only for Linux."""
        return time.clock_gettime_ns(_COARSE)
