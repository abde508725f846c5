"""The operations, one module per family; a new file here is a new operation."""
