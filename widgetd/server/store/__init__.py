"""Data that outlives a call: renders, actions, rate limits; in this process or on a server."""
