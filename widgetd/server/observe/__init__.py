"""Observation: audit, recent log events, status, and the hooks that count calls."""
