"""Lifetimes: what starts, in which order, and how it ends."""
