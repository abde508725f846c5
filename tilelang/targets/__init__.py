"""One folder per target: its lowering table, its renderer and its launcher."""
