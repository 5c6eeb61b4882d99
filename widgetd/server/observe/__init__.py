"""Observation: audit, recent log events, status, and the hooks for counting calls."""
