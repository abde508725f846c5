"""Wrong kernel files: the code, line and column of what is reported."""

from __future__ import annotations

import pytest

from tmigrate.diagnostics import SourceError, TmigrateError, VerifyError
from tmigrate.tilelang.ir.verify import verify
from tmigrate.tilelang.text.parser import parse_module

HEAD = """from tmigrate.tilelang import *

M, K = dims("M K")


@tile_kernel(level="thread")
def f(x: Ptr[f32], n: i32, c: b1, s: float4):
"""
LOOP = """from tmigrate.tilelang import *

M, K = dims("M K")


@tile_kernel
def f(A: Tensor[f32, M, K], n: i64):
"""

# (head, body of the function, code, line, column); the body's first line is line 8.
WRONG = [
    (HEAD, "    x[0] = ", "TM2001", 8, 12),
    (HEAD, "    import os", "TM2002", 8, 5),
    (HEAD, "    y = [x[i] for i in range(n)]", "TM2002", 8, 9),
    (HEAD, "    while c:\n        n = n ** 2", "TM2002", 9, 13),
    (HEAD, "    for i in x:\n        pass", "TM2002", 8, 14),
    (HEAD, "    del n", "TM2002", 8, 5),
    (HEAD, "    x[0] = z", "TM2003", 8, 12),
    (HEAD, "    x[0] = sqroot(x[1])", "TM2003", 8, 12),
    (HEAD, "    x[0] = s.q", "TM2003", 8, 12),
    (HEAD, "    x[0] = x[1] * n", "TM2004", 8, 19),
    (HEAD, "    n = 1.5", "TM2004", 8, 9),
    (HEAD, "    n = 3000000000", "TM2004", 8, 9),
    (HEAD, "    x[0] = x[1] // x[2]", "TM2004", 8, 12),
    (HEAD, "    if n:\n        pass", "TM2004", 8, 8),
    (HEAD, "    return n", "TM2004", 8, 5),
    (HEAD, "    x[x[0]] = 1.0", "TM2004", 8, 7),
    (HEAD, "    x[0] = fma(x[0], 1.0)", "TM2005", 8, 12),
    (HEAD, "    x[0, 1] = 1.0", "TM2005", 8, 5),
    (HEAD, "    x[0] = f32(1, 2)", "TM2005", 8, 12),
    (HEAD, "    s = float4(1.0, 2.0)", "TM2005", 8, 9),
    (HEAD, "    p: Ptr[f32] = address(1.0)", "TM2005", 8, 27),
    (HEAD, "    y: float = 1.0", "TM2006", 8, 8),
    (HEAD, "    a = local(f32, n)", "TM2006", 8, 20),
    (HEAD, "    n: f32 = 1.0", "TM2008", 8, 5),
    (HEAD, "    if c:\n        y: f32 = 1.0\n    x[0] = y", "TM2025", 10, 5),
    (HEAD, "    for i in range(n):\n        i = i + 1", "TM2046", 9, 9),
    (HEAD, "    for i in range(n):\n        n = n - 1", "TM2048", 8, 5),
    (HEAD, "    break", "TM2049", 8, 5),
    (HEAD, "    x[0] = 1.0 + atomic_add(x, 1.0)", "TM2033", 8, 5),
    (HEAD, "    max_: i32 = 1\n    try:\n        pass\n    except: pass", "TM2002", 9, 5),
    (LOOP, "    A[0] = 1.0", "TM2005", 8, 5),
    (LOOP, "    syncthreads()", "TM2054", 8, 5),
    (LOOP, "    i = i64(threadIdx.x)", "TM2053", 8, 5),
    (LOOP, "    assume(i32(blockIdx.x) < 4)", "TM2053", 8, 5),
    (LOOP, "    B = A + A", "TM2057", 8, 5),
    (LOOP, "    B = softmax(A)", "TM2005", 8, 9),
    (LOOP, "    B = A @ A", "TM2005", 8, 9),
    (LOOP, "    for i in parallel(range(n)):\n        break", "TM2049", 9, 9),
    (LOOP, "    k = A.shape[2]", "TM2005", 8, 9),
]  # fmt: skip


@pytest.mark.parametrize(
    "head,body,code,line,column", WRONG, ids=[f"{w[2]}-{i}" for i, w in enumerate(WRONG)]
)
def test_a_wrong_text_is_reported_at_its_place(
    head: str, body: str, code: str, line: int, column: int
) -> None:
    with pytest.raises(TmigrateError) as caught:
        verify(parse_module(head + body + "\n", file="k.py"))
    found = [(d.code, d.location.line, d.location.column) for d in caught.value.diagnostics if d.location]
    assert found[0] == (code, line, column)
    assert isinstance(caught.value, SourceError | VerifyError)


def test_open_types_need_a_call() -> None:
    text = LOOP.replace("Tensor[f32, M, K]", "Tensor[M, K]") + "    pass\n"
    with pytest.raises(SourceError) as caught:
        parse_module(text, file="k.py")
    assert [(d.code, d.location.line, d.location.column) for d in caught.value.diagnostics if d.location] == [
        ("TM2007", 7, 10)
    ]


def test_all_functions_report_in_one_run() -> None:
    text = HEAD + "    x[0] = z\n\n\n" + HEAD.split("\n\n\n")[1].replace("def f", "def g") + "    x[0] = w\n"
    with pytest.raises(SourceError) as caught:
        parse_module(text, file="k.py")
    assert [(d.code, d.location.line) for d in caught.value.diagnostics if d.location] == [
        ("TM2003", 8), ("TM2003", 13),
    ]  # fmt: skip


def test_a_text_nested_too_deeply_is_an_error_and_no_crash() -> None:
    with pytest.raises(SourceError) as caught:
        parse_module(HEAD + f"    x[0] = {'(' * 250}1.0{')' * 250}\n", file="k.py")
    assert caught.value.diagnostic.code == "TM2001"
    with pytest.raises(SourceError):
        parse_module(HEAD + "    x[0] = " + "-" * 5000 + "n\n", file="k.py")
