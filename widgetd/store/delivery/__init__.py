"""Tell a backend of what users do: a webhook, signed, and tried again."""
