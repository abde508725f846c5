"""The DSL at run time: what a kernel file imports, and the kernels that its decorators make."""
