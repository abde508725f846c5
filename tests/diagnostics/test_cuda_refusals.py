"""What the CUDA front end refuses: each case names the code and the place, and no kernel is silently changed."""

from __future__ import annotations

from pathlib import Path

import pytest
from tmigrate.codes import all_codes
from tmigrate.converters.cuda import FrontEndOptions, FrontEndResult, convert_source

# name: (code, line, column, source); the kernel under test is `k`.
CASES: dict[str, tuple[str, int, int, str]] = {
    "goto": ("TM1012", 2, 13, "__global__ void k(int *a) {\n  if (a[0]) goto out;\n  a[0] = 1;\nout:\n  a[1] = 2;\n}"),
    "label": ("TM1012", 2, 1, "__global__ void k(int *a) {\nhere:\n  a[0] = 1;\n}"),
    "volatile parameter": ("TM1015", 1, 19, "__global__ void k(volatile int *a) {\n  a[0] = 1;\n}"),
    "volatile shared": ("TM1015", 2, 3, "__global__ void k(int *a) {\n  __shared__ volatile int s[32];\n  a[0] = s[1];\n}"),
    "inline assembly": ("TM1016", 2, 3, '__global__ void k(int *a) {\n  asm volatile("bar.sync 0;");\n}'),
    "new": ("TM1019", 2, 12, "__global__ void k(int *a) {\n  int *p = new int[3];\n  a[0] = p[0];\n}"),
    "delete": ("TM1019", 2, 3, "__global__ void k(int *a) {\n  delete[] a;\n}"),
    "malloc": ("TM1019", 2, 19, "__global__ void k(int *a) {\n  int *p = (int *)malloc(4);\n  a[0] = *p;\n}"),
    "virtual": (
        "TM1020", 3, 3,
        "struct A { __device__ virtual int f() { return 1; } };\n__global__ void k(int *a) {\n  A x;\n  a[0] = x.f();\n}"),
    "function pointer": (
        "TM1021", 3, 3,
        "__device__ int f(int x) { return x; }\n__global__ void k(int *a) {\n  int (*p)(int) = f;\n  a[0] = p(1);\n}"),
    "pointer to member": (
        "TM1021", 3, 3, "struct S { int a; };\n__global__ void k(S *s) {\n  int S::*p = &S::a;\n  s->*p = 1;\n}"),
    "try": ("TM1022", 2, 3, "__global__ void k(int *a) {\n  try { a[0] = 1; } catch (...) { }\n}"),
    "dynamic parallelism": (
        "TM1023", 3, 3, "__global__ void c(int *a) { a[0] = 1; }\n__global__ void k(int *a) {\n  c<<<1, 1>>>(a);\n}"),
    "recursion": (
        "TM1011", 2, 26,
        "__device__ int f(int x) {\n  return x < 2 ? 1 : x * f(x - 1);\n}\n__global__ void k(int *a) { a[0] = f(a[0]); }"),
    "mutual recursion": (
        "TM1011", 3, 34,
        "__device__ int g(int x);\n__device__ int f(int x) { return g(x); }\n__device__ int g(int x) { return f(x); }\n"
        "__global__ void k(int *a) { a[0] = f(a[0]); }"),
    "no definition": ("TM1014", 3, 10, "__device__ int f(int x);\n__global__ void k(int *a) {\n  a[0] = f(2);\n}"),
    "unknown intrinsic": ("TM1014", 2, 10, "__global__ void k(float *a) {\n  a[0] = __fadd_rz(a[0], 1.0f);\n}"),
    "template without instances": ("TM1010", 2, 17, "template <class T>\n__global__ void k(T *a) { a[0] = 1; }"),
    "128 bits": ("TM1026", 2, 3, "__global__ void k(double *a) {\n  __int128 x = 1;\n  a[0] = (double)x;\n}"),
    "complex": ("TM1026", 2, 3, "__global__ void k(double *a) {\n  _Complex double z = 1.0;\n  a[0] = 1;\n}"),
    "union": ("TM1027", 3, 3, "union U { int i; float f; };\n__global__ void k(float *a) {\n  U u;\n  u.f = a[0];\n}"),
    "unnamed struct": (
        "TM1027", 1, 12, "struct S { struct { int x; }; int y; };\n__global__ void k(S *s) {\n  s->y = 1;\n}"),
    "bit-field": ("TM1028", 2, 19, "struct S { int a : 3; int b; };\n__global__ void k(S *s) {\n  s->b = 1;\n}"),
    "static variable": ("TM1029", 2, 3, "__global__ void k(int *a) {\n  static int n = 0;\n  a[0] = n++;\n}"),
    "variable length": ("TM1029", 2, 8, "__global__ void k(int *a, int n) {\n  int t[n];\n  a[1] = t[0];\n}"),
    "hidden for": (
        "TM1030", 4, 3,
        "#define LOOP for (; i < 3;)\n__global__ void k(int *a) {\n  int i = 0;\n  LOOP a[i++] = 1;\n}"),
    "case in a block": (
        "TM1031", 5, 3,
        "__global__ void k(int *a, int n) {\n  switch (n) {\n  case 0:\n    if (a[0]) {\n  case 1:\n      a[1] = 1;\n    }\n  }\n}"),
    "range of cases": (
        "TM1031", 3, 3, "__global__ void k(int *a, int n) {\n  switch (n) {\n  case 0 ... 3:\n    a[0] = 1;\n  }\n}"),
    "two bases": (
        "TM1032", 3, 19,
        "struct A { int a; }; struct B { int b; };\nstruct C : A, B { int c; };\n__global__ void k(C *p) {\n  p->c = 1;\n}"),
    "destructor": (
        "TM1033", 3, 3,
        "struct S { int n; __device__ ~S() { n = 0; } };\n__global__ void k(int *a) {\n  S s;\n  s.n = a[0];\n}"),
    "partial mask": ("TM1034", 2, 10, "__global__ void k(int *a) {\n  a[0] = __shfl_down_sync(0xffu, a[0], 1);\n}"),
    "match": ("TM1034", 2, 10, "__global__ void k(int *a) {\n  a[0] = __match_any_sync(0xffffffffu, a[0]);\n}"),
    "range-based for": (
        "TM1035", 3, 3, "__global__ void k(int *a) {\n  int t[2] = {1, 2};\n  for (int x : t)\n    a[0] += x;\n}"),
    "string": ("TM1036", 2, 19, '__global__ void k(char *a) {\n  const char *s = "abc";\n  a[0] = s[0];\n}'),
    "legacy shuffle": ("TM1041", 2, 10, "__global__ void k(int *a) {\n  a[0] = __shfl_down(a[0], 1);\n}"),
    "shared of two functions": (
        "TM1044", 5, 10,
        "__shared__ int s[4];\n__device__ void f() { s[0] = 1; }\n__global__ void k(int *a) {\n  f();\n  a[0] = s[0];\n}"),
    "memcpy": ("TM1045", 2, 3, "__global__ void k(int *a) {\n  memcpy(a, a + 4, 16);\n}"),
    "designated": (
        "TM1046", 3, 10, "struct S { int x, y; };\n__global__ void k(int *a) {\n  S s = {.x = 1, .y = 2};\n  a[0] = s.x;\n}"),
    "array of objects": (
        "TM1046", 3, 3,
        "struct S { int n; __device__ S() : n(1) {} };\n__global__ void k(int *a) {\n  S s[3];\n  a[0] = s[0].n;\n}"),
    "printf format": ("TM1047", 2, 3, "__global__ void k(const char *f) {\n  printf(f, 1);\n}"),
    "host variable": ("TM1049", 3, 10, "int n = 3;\n__global__ void k(int *a) {\n  a[0] = n;\n}"),
    "host function": ("TM1049", 3, 10, "int f() { return 3; }\n__global__ void k(int *a) {\n  a[0] = f();\n}"),
    "statement expression": ("TM1013", 2, 10, "__global__ void k(int *a) {\n  a[0] = ({ int t = a[1]; t + 1; });\n}"),
    "condition variable": ("TM1013", 2, 3, "__global__ void k(int *a) {\n  while (int n = a[0])\n    a[0] = n - 1;\n}"),
    "syntax": ("TM1001", 2, 10, "__global__ void k(int *a) {\n  a[0] = ;\n}"),
    "missing header": ("TM1002", 1, 10, '#include "nothere.h"\n__global__ void k(int *a) { a[0] = 1; }'),
    "cub": ("TM1024", 1, 10, "#include <cub/cub.cuh>\n__global__ void k(int *a) { a[0] = 1; }"),
    "tensor cores": ("TM1040", 1, 10, "#include <mma.h>\n__global__ void k(int *a) { a[0] = 1; }"),
    "captured from the host": (
        "TM1048", 6, 15,
        "template <class F> __global__ void k(F f, int *a) {\n  a[0] = f();\n}\nint main() {\n  int n = 2;\n"
        "  k<<<1, 1>>>([&] __device__() { return n; }, (int *)0);\n}"),
}  # fmt: skip


@pytest.fixture(autouse=True)
def without_cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same answers on machines with and without a CUDA toolkit."""
    monkeypatch.setattr("tmigrate.converters.cuda.parsing.real_cuda_headers", lambda: None)


def convert(folder: Path, source: str) -> FrontEndResult:
    path = folder / "case.cu"
    path.write_text(source)
    return convert_source(path, FrontEndOptions())


@pytest.mark.parametrize("name", CASES)
def test_refusal_names_code_and_place(name: str, tmp_path: Path) -> None:
    code, line, column, source = CASES[name]
    result = convert(tmp_path, source)
    kernel = next(k for k in result.kernels if k.definition == "k")
    assert kernel.status == "refused"
    assert result.module.function(kernel.name) is None
    places = [(d.code, d.location.line, d.location.column) for d in kernel.diagnostics if d.location]
    if name == "captured from the host":  # clang points at the use inside of the lambda
        assert code in {c for c, _, _ in places}
    else:
        assert (code, line, column) in places
    assert all(d.code in all_codes() for d in kernel.diagnostics)
    assert next(d for d in kernel.diagnostics if d.code == code).remedy or code in ("TM1001", "TM1013")


def test_all_problems_of_a_kernel_in_one_run(tmp_path: Path) -> None:
    source = (
        "__global__ void k(int *a) {\n"
        '  asm("");\n'
        "  int *p = new int;\n"
        "  a[0] = *p;\n"
        "  goto end;\n"
        "end:\n"
        "  a[1] = __shfl_down(a[0], 1);\n"
        "}\n"
        "__global__ void other(int *a) { a[0] = 1; }\n"
    )
    result = convert(tmp_path, source)
    refused, converted = result.kernels
    assert [(d.code, d.location.line) for d in refused.diagnostics if d.location] == [
        ("TM1016", 2), ("TM1019", 3), ("TM1012", 5), ("TM1012", 6),
    ]  # fmt: skip
    assert converted.status == "converted"
    assert [f.name for f in result.module.functions] == ["other"]


def test_refusal_in_a_called_function_names_the_call(tmp_path: Path) -> None:
    source = '__device__ void f() {\n  asm("");\n}\n__global__ void k(int *a) {\n  f();\n}\n'
    (kernel,) = convert(tmp_path, source).kernels
    (found,) = kernel.diagnostics
    assert found.location is not None and (found.code, found.location.line) == ("TM1016", 2)
    assert found.notes[0].location is not None and found.notes[0].location.line == 5


def test_an_unknown_construct_is_refused(tmp_path: Path) -> None:
    source = "__global__ void k(int *a) {\n  void *p = &&x;\nx:\n  a[0] = p != 0;\n}"
    (kernel,) = convert(tmp_path, source).kernels
    assert ("TM1013", 2, 13) in [
        (d.code, d.location.line, d.location.column) for d in kernel.diagnostics if d.location
    ]


@pytest.mark.parametrize("content", [b"\x7fELF\0\0\0", b"__global__ void k( {"], ids=["binary", "syntax"])
def test_an_unreadable_file_converts_nothing(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "bad.cu"
    path.write_bytes(content)
    result = convert_source(path, FrontEndOptions())
    assert [d.code for d in result.diagnostics][:1] == ["TM1001"]
    assert result.module.functions == ()


def test_a_host_file_has_no_kernels(tmp_path: Path) -> None:
    result = convert(tmp_path, '#include <cstdio>\nint main() { printf("hi"); }\n')
    assert (result.kernels, result.diagnostics) == ([], [])
