"""Trials under stress, as tables of their outcomes."""
