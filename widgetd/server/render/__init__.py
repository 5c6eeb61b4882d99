"""Calls and results: validate, fill, render, store and encode. Entries of tool lists."""
