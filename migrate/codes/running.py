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
)
