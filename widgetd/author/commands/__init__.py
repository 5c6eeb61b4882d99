"""Commands for authors, without a running daemon."""
