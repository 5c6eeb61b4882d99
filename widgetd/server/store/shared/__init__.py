"""The store that replicas share, on a Redis or Valkey server; alone while the server is away."""
