"""One simulated world that judges the daemon: every failure is a seed."""
