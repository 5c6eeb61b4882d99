"""What Studio's exporter writes: its words, lost texts, wrappers, commas, and JSON context."""
