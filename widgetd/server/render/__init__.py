"""Calls and results: validate, fill, render, store and encode; entries of tool lists."""
