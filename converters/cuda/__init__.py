"""CUDA C++ (parsed by libclang) to thread-level tile IR."""
