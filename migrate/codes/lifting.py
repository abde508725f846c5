"""Diagnostic codes of lifting: why a kernel stays at thread level."""

from tmigrate.codes import Code

CODES: tuple[Code, ...] = (
    Code(
        "TM3001",
        "not a thread-level kernel",
        "Lifting starts from the faithful thread-level version of a kernel. Device functions, and kernels "
        "that "
        "are already written with loops, have no launch to replace.",
    ),
    Code(
        "TM3002",
        "the launch's index is not one index over data",
        "Block and thread index become one loop variable where they occur as `blockIdx * blockDim + "
        "threadIdx` "
        "(casts, constants and offsets included). Other uses, such as a row for each block and a stride of "
        "blockDim inside it, keep the kernel at thread level.",
        bad="i = blockIdx.x * 1024 * 4 + threadIdx.x",
        good="i = blockIdx.x * blockDim.x + threadIdx.x",
    ),
    Code(
        "TM3003",
        "a return inside a loop",
        "An early return before the work becomes a condition. A thread that leaves from the middle of a loop "
        "has no such form.",
        bad="for (k = 0; k < n; k++) { if (x[k] < 0) return; ... }",
        good="for (k = 0; k < n; k++) { if (x[k] < 0) break; ... }",
    ),
    Code(
        "TM3004",
        "memory reached through a computed pointer",
        "Loop-level code has tensors instead of pointers. A pointer parameter plus an offset is followed; a "
        "pointer that is loaded, chosen, moved in a loop, or seen as another type is not.",
        bad="const float4* v = reinterpret_cast<const float4*>(x);",
        good="x[4 * i + lane]",
    ),
    Code(
        "TM3005",
        "no guard",
        "Each index over the launch needs an upper bound that parameters or constants give: a guard around "
        "the "
        "work, an early return, or a grid-stride loop. Without one, the launch alone decides how far the "
        "data "
        "reaches.",
        bad="y[i] = x[i];",
        good="if (i < n) y[i] = x[i];",
    ),
    Code(
        "TM3006",
        "a flat index that splits into no dimensions",
        "`a[i * n + j]` becomes `a[i, j]` where 0 <= j < n follows from loop ranges and conditions, or can "
        "be "
        "assumed of parameters, and where all accesses through the pointer split by the same extents.",
        bad="a[i * n + j] with j bounded by m, and a[i * m + j] elsewhere",
        good="a[i * n + j] with j < n at every access",
    ),
    Code(
        "TM3007",
        "iterations that may meet",
        "Iterations of a parallel loop must not touch an element that another one writes. The two accesses "
        "named "
        "could not be shown to be apart: either the original races, or its order matters.",
        bad="y[i] = y[i - 1] + x[i];",
        good="y[i] = z[i - 1] + x[i];",
    ),
    Code(
        "TM3008",
        "threads that work together",
        "Shared memory, barriers and lane operations let threads exchange values. No rule replaces this use "
        "yet.",
    ),
    Code(
        "TM3009",
        "an effect that loops do not have",
        "Atomics, output and clocks depend on the order of threads.",
    ),
    Code(
        "TM3010",
        "a device function that works on memory",
        "Device functions of numbers stay calls. One that takes pointers, references or structs would have "
        "to be "
        "put in place of its call, and its form does not allow that.",
    ),
)
