"""Diagnostic codes of verification: why a kernel is not (or not at its highest level) verified."""

from tmigrate.codes import Code

CODES: tuple[Code, ...] = (
    Code(
        "TM4101",
        "the conversion disagrees with the original",
        "Run side by side from the same memory, the converted kernel left other bytes than the original, or "
        "did not end. Nothing is handed out for such a kernel: it is refused. This is a fault of tmigrate; "
        "please report it with the kernel.",
    ),
    Code(
        "TM4102",
        "the lift disagrees with the thread-level version",
        "The lifted version left values outside the derived error bound, or other bytes on small-integer "
        "data. The lift is dropped; the kernel stays at thread level. `verify` refuses the kernel: its lift "
        "stands in NAME_tile.py, which was edited.",
    ),
    Code(
        "TM4103",
        "not every line was compared",
        "Every store and both outcomes of every branch must run in compared launches before a kernel counts "
        "as verified. Give the program arguments that reach the lines named.",
        bad="tmigrate convert filter.cu",
        good="tmigrate convert filter.cu -- --mode=edge --size 1003",
    ),
    Code(
        "TM4104",
        "never launched",
        "The program ended without launching this kernel.",
        bad="tmigrate convert solver.cu",
        good="tmigrate convert solver.cu -- --method=jacobi",
    ),
    Code(
        "TM4105",
        "out of time",
        "Verification of a file has a time limit, 60 seconds unless --verify-time says otherwise.",
        bad="tmigrate convert big.cu",
        good="tmigrate convert big.cu --verify-time 300",
    ),
    Code(
        "TM4106",
        "the program failed",
        "The original program crashed, did not end within the time, used more memory or output than it may, "
        "or exited with another status than 0. Launches compared before that count. Its standard input is "
        "empty.",
        bad="tmigrate convert solver.cu",
        good="tmigrate convert solver.cu -- --matrix small.mtx",
    ),
    Code(
        "TM4107",
        "the result depends on the schedule",
        "The original gives different bytes under different orders of its threads (a race, or atomics whose "
        "order shows). Bytes that agree were compared; for the others there is nothing to compare with.",
    ),
    Code("TM4108", "the kernel reads the clock", "Its result differs from run to run by design."),
    Code(
        "TM4109",
        "the original breaks CUDA's rules",
        "A race, an access out of bounds, an uninitialised read, a divergent barrier, or C++ that is "
        "undefined: such launches do not count as compared. The report names the lines.",
    ),
    Code("TM4110", "nothing was executed", "--no-run converts without running the input."),
    Code(
        "TM4111",
        "the original could not be built",
        "The original source does not compile for the CPU; the compiler's first lines are shown.",
    ),
    Code(
        "TM4112", "the comparison itself failed", "A version could not be loaded or a variable was not found."
    ),
    Code(
        "TM4113",
        "no launch met the lift's assumptions",
        "The lifted version holds only under conditions (such as a grid that covers the data) which no "
        "compared launch met. The thread-level version is used.",
    ),
    Code(
        "TM4114",
        "the bounded check found a difference",
        "Run on small sizes in exact arithmetic, the lifted version differs from the thread-level one. "
        "The lift is dropped; where it was edited, `verify` refuses the kernel.",
    ),
    Code(
        "TM4115",
        "no launch could be generated",
        "No program launches this kernel, and no launch was found that keeps inside CUDA's rules: an index "
        "is negative or has no bound, memory holds pointers, or it needs sizes that only its author knows. "
        "A file tmigrate.toml with this kernel's table was written beside the outputs, unless there was one: "
        "state the sizes in it.",
        bad="__global__ void pick(const int *at, const float *x, float *y) {\n"
        "    y[threadIdx.x] = x[at[threadIdx.x] - 100];\n}",
        good='[kernel."pick"]\ngrid = [1]\nblock = [64]\nsizes = {at = 64, x = 50, y = 64}\n'
        "ranges = {at = [100, 149]}",
    ),
    Code(
        "TM4116",
        "an output lacks a kernel",
        "`verify` judges NAME_thread.py and NAME_tile.py as they stand on the disk. One of them is missing, "
        "or does not have this kernel: it was removed, or refused when the file was written.",
        bad="tmigrate convert solver.cu -o out\ntmigrate verify solver.cu",
        good="tmigrate convert solver.cu -o out\ntmigrate verify solver.cu -o out",
    ),
    Code(
        "TM4117",
        "the converted kernel breaks a rule that the original keeps",
        "The results agree, but the converted kernel reads outside of an array or an allocation, reaches a "
        "barrier with some of its threads only, or names lanes in a mask that take no part, at that line. "
        "The original was not seen to do so: either its full check did not get that far, or tmigrate is at "
        "fault; please report it with the kernel.",
        bad="float next = x[i + 1];  // one behind the end in the last thread\nif (i < n) y[i] = next;",
        good="float next = i + 1 < n ? x[i + 1] : 0.0f;\nif (i < n) y[i] = next;",
    ),
    Code(
        "TM4120",
        "a kernel of the program was not converted",
        "`tmigrate run` runs a program on regenerated kernels only, so each of its kernels must convert, "
        "and no two of its files may define different kernels of one name.",
    ),
)
