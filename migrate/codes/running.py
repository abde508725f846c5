"""Diagnostic codes of the oracle: building and running the original on the CPU."""

from tmigrate.codes import Code

CODES: tuple[Code, ...] = (
    Code(
        "TM4001",
        "a kernel or launch whose form is not recognised",
        "To run the original on the CPU, its launches and kernels are rewritten token by token after the "
        "preprocessor. This one has a form that the rewriter does not know, such as a launch whose callee or "
        "configuration it cannot delimit.",
        bad="(flag ? first : second)->*member<<<grid, block>>>(x);",
        good="auto kernel = flag ? first : second;\nkernel<<<grid, block>>>(x);",
    ),
    Code(
        "TM4002",
        "the original does not compile or link for the CPU",
        "The machine's C++ compiler refused the program: a header is missing, a macro that only the Makefile "
        "defines, another source file of the program, or code that only a GPU can run (inline PTX). Without "
        "it nothing can be verified.",
        bad="tmigrate convert main.cu",
        good="tmigrate convert main.cu -I include -D REAL=float",
    ),
    Code(
        "TM4003",
        "the oracle's own runtime does not compile",
        "The compiler that was found cannot build the emulator's runtime. This is a fault of the "
        "installation, not of the input: choose another compiler with TMIGRATE_CXX, or report it.",
        good="TMIGRATE_CXX=g++ tmigrate verify main.cu",
    ),
    Code(
        "TM4301",
        "a recursive device function that threads run together",
        "A device function that holds a barrier, a lane operation or shared memory is inlined into the "
        "kernel for a CPU, which a recursive one cannot be.",
        bad="__device__ void f(int n) { __syncthreads(); if (n) f(n - 1); }",
        good="__device__ void f(int n) { for (; n >= 0; n--) __syncthreads(); }",
    ),
    Code(
        "TM4302",
        "an operation that has no code on a CPU",
        "The CPU back end has no lowering for this operation at this place, such as a barrier in a "
        "loop-level kernel. For CUDA input this is a fault of tmigrate: please report it.",
    ),
    Code(
        "TM4303",
        "a reduction in the condition of a while loop",
        "A reduction is computed before the statement that uses it; before a loop that would be once only.",
        bad="while sum(a[i] for i in range(n)) > 1.0:",
        good="total: f32 = sum(a[i] for i in range(n))\nwhile total > 1.0:",
    ),
)
