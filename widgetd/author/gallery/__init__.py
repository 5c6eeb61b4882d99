"""The gallery: every widget as people see it, redrawn the moment its file is saved."""
