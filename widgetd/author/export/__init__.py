"""Packages for ChatKit Studio: a widget's JSX, its template, its preview."""
