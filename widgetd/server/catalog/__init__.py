"""All widgets, now: files become entries, entries a snapshot, and a swap serves it."""
