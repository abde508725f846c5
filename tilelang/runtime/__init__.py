"""What runs beside the compiler: the machine's compilers, the object cache, and headers for libclang."""
