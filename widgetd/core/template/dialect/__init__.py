"""The dialect of Studio's exporter: words, lost texts, wrappers, commas, JSON context."""
