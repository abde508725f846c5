"""Bundled libraries: fast routines that regenerated code and Python share."""
