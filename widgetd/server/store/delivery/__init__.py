"""Deliveries of actions to a backend: a webhook, signed and retried."""
