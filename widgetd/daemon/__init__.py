"""Lifetimes: which parts start, in which order, and how they end."""
