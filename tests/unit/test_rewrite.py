"""The launch rewriter, rule by rule, on text as it stands after the preprocessor."""

from __future__ import annotations

import re

import pytest

from tmigrate.diagnostics import SourceError
from tmigrate.oracle.declarations import declarators, parameter_list, parameters, scopes
from tmigrate.oracle.rewrite import rewrite
from tmigrate.oracle.tokens import TokenText, match_forward


def squeezed(text: str, **options: bool) -> str:
    return re.sub(r"\s+", " ", rewrite(text, **options)).strip()


@pytest.mark.parametrize(
    ("launch", "callee", "configuration"),
    [
        ("k<<<1, 2>>>(a);", "k", "1, 2"),
        ("k<float, 3><<<g, b, s, t>>>(a);", "k<float, 3>", "g, b, s, t"),
        ("ns::k<A<B<int>>><<<dim3(1, 2), x[3]>>>(a);", "ns::k<A<B<int>>>", "dim3(1, 2), x[3]"),
        ("::k<<<n >> 3, 32>>>(a);", "::k", "n >> 3, 32"),
        ("object.kernel<<<1, 1>>>(a);", "object.kernel", "1, 1"),
        ("table[i]<<<1, 1>>>(a);", "table[i]", "1, 1"),
        ("(*pointer)<<<1, 1>>>(a);", "(*pointer)", "1, 1"),
        ("T::template k<U><<<1, 1>>>(a);", "T::template k<U>", "1, 1"),
        ("k<(N > 2)><<<max(a, 1), 1>>>(a);", "k<(N > 2)>", "max(a, 1), 1"),
    ],
)
def test_launch(launch: str, callee: str, configuration: str) -> None:
    expected = f"void f() {{ if (x) (::tm_oracle::push_launch({configuration}), {callee}(a)); }}"
    assert squeezed(f"void f() {{ if (x) {launch} }}") == expected


def test_shift_operators_are_no_launch() -> None:
    text = "int f(int a) { cout << a << 1 >> 2; return a >>= 3; } friend o operator<<<T>(o &, T);"
    assert rewrite(text) == text


def test_launch_in_launch_arguments_keeps_both() -> None:
    assert squeezed("void f() { a<<<1, 2>>>([=] __tm_device__ (int i) { return i; }); }") == (
        "void f() { (::tm_oracle::push_launch(1, 2), a([=] (int i) { return i; })); }"
    )


def test_kernel_body_becomes_a_closure() -> None:
    result = squeezed("template <class T> __tm_global__ void k(T *x, const int n) { x[n] = 0; }")
    assert "auto tm_body = [=]() mutable { x[n] = 0; };" in result
    assert "kernel_entry(0, typeid(tm_body), tm_body, x, tm_n)" in result
    assert "Entry" not in result, "a template has no address to register"


@pytest.mark.parametrize(
    ("parameter", "passed", "constant"),
    [
        ("const int n", "int tm_n", "const int n(tm_n);"),
        ("unsigned const n", "unsigned tm_n", "unsigned const n(tm_n);"),
        ("const std::size_t n", "std::size_t tm_n", "const std :: size_t n(tm_n);"),
        ("const Shape<const int> n", "Shape<const int> tm_n", "const Shape < const int > n(tm_n);"),
        ("const float", "const float tm_unnamed_0", ""),
        ("const int *n", "const int *n", ""),
        ("int *const n", "int *const n", ""),
        ("const int (&n)[3]", "const int (&n)[3]", ""),
        ("const T... n", "const T... n", ""),
    ],
)
def test_a_constant_may_be_entered_again_as_another(parameter: str, passed: str, constant: str) -> None:
    """What the body sees stays constant: overloads and traits tell the difference."""
    found = squeezed(f"__tm_global__ void k({parameter}) {{ }}").replace("( ", "(")
    assert found.startswith(f"void k({passed}) {{")
    assert constant in found and ("const" in constant) == bool(constant)


def test_kernel_declaration_only_loses_its_marker() -> None:
    assert squeezed("__tm_global__ void k(int *x, int n = 3);") == "void k(int *x, int n = 3);"


def test_plain_kernel_is_registered_by_address() -> None:
    assert "tm_entry_1((const void *)static_cast<void (*)(int * x, int n)>(&k)" in squeezed(
        "__tm_global__ void k(int *x, int n = 4) { }"
    )


def test_run_mode_drops_bodies_and_keeps_lines() -> None:
    text = "__tm_global__ void k(int *x) {\n  x[0] = secret;\n}\nint after;\n"
    result = rewrite(text, keep_bodies=False)
    assert "secret" not in result
    assert result.count("\n") == text.count("\n")
    assert result.splitlines()[3] == "int after;"


@pytest.mark.parametrize(
    ("parameter", "name"),
    [
        ("float *x", "x"),
        ("const Foo<int, 3> &x", "x"),
        ("unsigned n", "n"),
        ("unsigned int", None),
        ("std::size_t", None),
        ("Foo", None),
        ("const Foo", None),
        ("typename T::type x", "x"),
        ("struct S s", "s"),
        ("float (*f)(int, float)", "f"),
        ("int n = max(1, 2)", "n"),
        ("float a[][4]", "a"),
        ("float *__restrict__", None),
        ("bool b = (1 < 2)", "b"),
    ],
)
def test_parameter_names(parameter: str, name: str | None) -> None:
    source = TokenText(f"void k({parameter}, double last) ")
    opening = parameter_list(source.tokens, 0)
    found = parameters(source.tokens, opening, match_forward(source.tokens, opening), source.text)
    assert len(found) == 2 and found[1].name == "last"
    assert found[0].invented == (name is None)
    if name is not None:
        assert found[0].name == name


def test_unnamed_parameter_gets_a_name_and_packs_expand() -> None:
    assert "void k(int tm_unnamed_0)" in squeezed("__tm_global__ void k(int) { }")
    assert "tm_body, args...)" in squeezed("template <class... T> __tm_global__ void k(T... args) { }")


def test_shared_variables_are_static_and_announced() -> None:
    result = squeezed("__tm_global__ void k() { __tm_shared__ float a[4][5], b; }")
    assert "static float a[4][5], b;" in result
    assert "sizeof(a))" in result and "sizeof(b))" in result


def test_dynamic_shared_memory_is_a_reference_to_the_arena() -> None:
    result = squeezed(
        "__tm_global__ void k() { extern __tm_shared__ __attribute__((aligned(16))) float s[][3]; }"
    )
    assert "float (&s)[ ] [ 3 ] = *(float (*)[ ] [ 3 ])tm_dynamic_shared;" in result


@pytest.mark.parametrize(
    ("declaration", "names"),
    [
        ("int a;", ["a"]),
        ("float t[4] = {1, 2}, u;", ["t", "u"]),
        ("const Foo<int, 3> f{1};", ["f"]),
        ("unsigned long long counter = 0;", ["counter"]),
        ("struct P { int x, y; } p;", ["p"]),
    ],
)
def test_device_variables_are_registered(declaration: str, names: list[str]) -> None:
    result = squeezed(f"__tm_device__ {declaration} __tm_device__ int f(int x) {{ return x; }}")
    assert re.findall(r"\(const void \*\)&(\w+)", result) == names
    source = TokenText(declaration)
    assert [d.name for d in declarators(source.tokens, 0, len(source.tokens) - 1)] == names


def test_functions_members_and_externs_are_not_registered() -> None:
    text = (
        "struct S { __tm_device__ S() : x(0) {} static const __tm_device__ int c = 3; int x;"
        " __tm_device__ int operator()(int i) const { return i; } };"
        "extern __tm_device__ int e; template <class T> __tm_constant__ T t[3];"
    )
    assert "Variable" not in rewrite(text)


def test_scopes() -> None:
    source = TokenText("namespace n { template <class T> struct S { int a; void f() { b; } }; int c; }")
    kinds = {t.text: kind for t, kind in zip(source.tokens, scopes(source.tokens), strict=True)}
    assert (kinds["a"], kinds["b"], kinds["c"]) == ("class", "block", "namespace")


def test_line_marks_survive_and_system_headers_are_passed_over() -> None:
    text = (
        '# 1 "k.cu"\n# 1 "/usr/include/x.h" 1 3\nint operator_<<<odd;\n# 2 "k.cu" 2\n'
        'void f() {\n# 3 "k.cu" 3 4\n k<<<1,\n# 3 "k.cu"\n 2>>>(); }\n'
    )
    result = rewrite(text)
    assert "int operator_<<<odd;" in result and result.count('# 3 "k.cu"') == 2
    assert "push_launch(1, 2), k\n" in result.replace("  ", " ")


def test_strings_and_comments_of_code_are_left_alone() -> None:
    text = 'const char *s = "k<<<1, 2>>>(x)"; const char *r = R"x(k<<<1>>>(a))x"; char c = \'<\';'
    assert rewrite(text) == text


def test_a_launch_without_form_is_an_error_with_its_line() -> None:
    with pytest.raises(SourceError) as caught:
        rewrite('# 7 "k.cu"\nvoid f() { k<<<1, 2; }\n')
    found = caught.value.diagnostic
    assert found.code == "TM4001" and found.location is not None
    assert (found.location.file, found.location.line, found.location.column) == ("k.cu", 7, 13)
