"""Commands for authors, which need no running daemon."""
