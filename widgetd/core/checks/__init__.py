"""Checks of a widget before it is called.

One table of rules, and a module for each subject. Checks report and never decide: a widget that
cannot be served was refused before.
"""
