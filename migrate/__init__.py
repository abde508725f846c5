"""tmigrate: CUDA kernels and ONNX graphs become readable tile programs, and each step is proven.

This module runs before every ``tmigrate.*`` import, so it imports nothing heavy.
"""

__version__ = "0.1.0"
