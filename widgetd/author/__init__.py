"""Tools for authors of widgets: gallery, guide, browser, tests, types, uploads."""
