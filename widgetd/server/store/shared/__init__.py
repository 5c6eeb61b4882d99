"""The store of all replicas, on a Redis or Valkey server."""
