"""Lifetimes: the parts, their order of start, and their end."""
