"""The CPU: IR to C, C to a shared object, and a launcher through ctypes."""
