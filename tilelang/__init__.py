"""The tile DSL, its IR, text form, passes, back ends and bundled libraries.

A kernel file imports the DSL's names from here; they are loaded when the first one is asked for.
"""

from __future__ import annotations

from typing import Any

if __name__ != "tmigrate.tilelang":  # a checkout's folder, imported from the wrong root
    raise ImportError("import this package as tmigrate.tilelang")

_PACKAGES = frozenset({"dsl", "interpreter", "ir", "libs", "passes", "runtime", "targets", "tensors", "text"})


def __getattr__(name: str) -> Any:
    if name in _PACKAGES or (name.startswith("__") and name != "__all__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from tmigrate.tilelang.dsl.words import all_words

    words = all_words()
    globals().update({key: value for key, value in words.items() if key not in globals()})
    globals()["__all__"] = sorted(words)
    if name not in globals():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *__getattr__("__all__")})
