"""Differential verification: replay the original beside the converted kernels, and judge what came of it.

`report` reads what replay wrote, `verdict` judges one kernel, `replay` runs the whole thing.
"""
