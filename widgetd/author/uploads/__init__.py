"""Uploads into the widgets folder, and the folder's history."""
