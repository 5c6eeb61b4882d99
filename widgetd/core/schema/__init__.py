"""JSON Schema, knowing nothing of widgets: validate, explain, coerce, sample, type."""
