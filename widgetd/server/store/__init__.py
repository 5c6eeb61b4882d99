"""The store: renders, actions, answers and rate limits, in this process or on a shared server."""
