"""The tile DSL, its IR, text form, passes, back ends and bundled libraries."""

if __name__ != "tmigrate.tilelang":  # a checkout's folder, imported from the wrong root
    raise ImportError("import this package as tmigrate.tilelang")
