"""One widget, from its file to a tree of components; no server, no folder."""
