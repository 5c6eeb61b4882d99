"""One Chromium, and the pictures that it takes."""
