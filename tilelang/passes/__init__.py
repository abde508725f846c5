"""IR to IR: analyses and rewrites, each usable alone on a ten-line text."""
