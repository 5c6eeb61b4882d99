"""Access: who is calling, what they may do, and how they prove it."""
