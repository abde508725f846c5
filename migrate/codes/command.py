"""Diagnostic codes of the command line and the environment."""

from tmigrate.codes import Code

CODES: tuple[Code, ...] = (
    Code(
        "TM5001",
        "no working compiler",
        "Regenerated kernels and the original are compiled on this machine. Neither $TMIGRATE_CC and "
        "$TMIGRATE_CXX, nor gcc/g++, nor clang/clang++ compiles a file that includes <math.h> and <vector>, "
        "and the ziglang package is not installed. `tmigrate doctor` lists what was tried.",
        bad="gcc, but an empty /usr/include",
        good='pip install "tmigrate[compiler]"',
    ),
    Code(
        "TM5002",
        "a compiler failed",
        "A compiler could not be started, did not finish, or did not accept code that tmigrate generated. "
        "The last is a fault of tmigrate: please report it with the lines shown.",
    ),
    Code(
        "TM5003",
        "no headers that libclang parses",
        "libclang's package has no C or C++ headers. Those of the system's compiler are tried first, then "
        "those of the ziglang package; none of them parsed cleanly.",
        good='pip install "tmigrate[compiler]"',
    ),
)
