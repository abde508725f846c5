"""Executes tile IR in Python, within limits and without native code, over exchangeable arithmetic."""
