"""What outlives a call: renders, awaited actions, limits. In this process, or on a server."""
