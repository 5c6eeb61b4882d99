"""The catalog as people and probes see it: the gallery, health, metrics, status."""
