"""Checks of a widget before it is called.

Checks report and never decide. The compiler has already refused widgets that cannot be served.
"""
