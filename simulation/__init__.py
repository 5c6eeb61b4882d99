"""A simulated world for the daemon: every failure is a seed."""
