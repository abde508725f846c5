"""Diagnostic codes of DSL and IR."""

from tmigrate.codes import Code

CODES: tuple[Code, ...] = (
    Code(
        "TM2001",
        "not Python",
        "A kernel file is Python; its parser stopped here. Text nested too deeply for Python's parser "
        "(200 parentheses, 100 indents) is reported in the same way.",
        bad="for i in range(n)",
        good="for i in range(n):",
    ),
    Code(
        "TM2002",
        "a construct outside the DSL",
        "Kernels use a part of Python: declarations, stores, `if`, `for` over a range, `while`, calls "
        "of operations and of the file's own functions. Nothing else has a meaning here.",
        bad="x = [i for i in range(4)]",
        good="x = local(f32, 4)",
    ),
    Code(
        "TM2003",
        "an unknown name",
        "The name is neither a variable of the function, nor a constant, function, struct or "
        "dimension of the file, nor an operation of the DSL.",
        bad="y[i] = sqroot(x[i])",
        good="y[i] = sqrt(x[i])",
    ),
    Code(
        "TM2004",
        "types that do not fit",
        "Both operands of an operator, and a variable and its value, have one type. Nothing is "
        "converted silently: a bare literal takes the other operand's type, everything else is "
        "converted by name.",
        bad="y[i] = x[i] * n  # f32 and i32",
        good="y[i] = x[i] * f32(n)",
    ),
    Code(
        "TM2005",
        "a wrong call",
        "The operation or function takes other arguments.",
        bad="y[i] = fma(x[i], 2.0)",
        good="y[i] = fma(x[i], 2.0, 0.0)",
    ),
    Code(
        "TM2006",
        "not a type",
        "A type is f32, i32 and so on (FP32, INT32), Ptr[type], Array[type, extents], Tensor[type, "
        "extents], or a struct.",
        bad="def f(x: float):",
        good="def f(x: f32):",
    ),
    Code(
        "TM2007",
        "a type that is not known",
        "A parameter without a type, or a tensor without element type or shape, gets them from the "
        "arguments of a call. Where a file is only read, there is no call.",
        bad="def f(A: Tensor[M, K]):",
        good="def f(A: Tensor[FP32, M, K]):",
    ),
    Code(
        "TM2008",
        "a name declared twice",
        "A name has one type in its function.",
        bad="x: i32 = 0 ... x: f32 = 1.0",
        good="x: i32 = 0 ... y: f32 = 1.0",
    ),
    Code(
        "TM2020",
        "a name that several things have",
        "Constants, structs, variables and functions of a module have names of their own.",
    ),
    Code(
        "TM2021",
        "a name that is not free",
        "Names are Python identifiers that the DSL does not use itself; `names.to_python` changes one "
        "reversibly.",
        bad="max: i32 = 0",
        good="most: i32 = 0",
    ),
    Code(
        "TM2022",
        "a module constant that does not fit its type",
        "The value of a constant is a number of its type.",
        bad="N: u8 = 300",
        good="N: u16 = 300",
    ),
    Code(
        "TM2023",
        "a struct's layout",
        "Members do not overlap, lie inside the struct, and have types that are declared before.",
    ),
    Code(
        "TM2024",
        "a module variable",
        "A `device`, `constant`, `managed` or `shared` variable is an array of at least one element.",
        bad="n = device(i32)",
        good="n = device(i32, 1)",
    ),
    Code(
        "TM2025",
        "a variable that is not declared here",
        "A declaration is visible to the end of its region. A value that is needed after an `if` or a "
        "loop is declared before it.",
        bad="if c:\n    x = 1\ny[0] = x",
        good="x = 0\nif c:\n    x = 1\ny[0] = x",
    ),
    Code(
        "TM2026",
        "a name that is taken",
        "Every variable of a function has a name of its own, different from the module's names.",
        bad="for n in range(n):",
        good="for i in range(n):",
    ),
    Code(
        "TM2027",
        "a variable of two types",
        "A variable is used with the type that it was declared with. A fault of a pass.",
    ),
    Code(
        "TM2028",
        "dimensions and shapes",
        "A shape is made of constants, dimensions (i64) and integer parameters: things that do not "
        "change during a call.",
        bad="n = 4\nC = allocate(f32, n)",
        good="C = allocate(f32, 4)",
    ),
    Code(
        "TM2029",
        "a signature",
        "Parameters are numbers, pointers, structs or tensors.",
        bad="def f(a: Array[f32, 4]):",
        good="def f(a: Ptr[f32]):",
    ),
    Code(
        "TM2030",
        "operands of different types",
        "Both operands of an operator, and both values of a selection, have one type.",
        bad="i32 + i64",
        good="i64(x) + y",
    ),
    Code(
        "TM2031",
        "an operator that the type does not have",
        "`/` divides floats, `//` and `truncdiv` integers; `&`, `|` and `^` work on integers and "
        "conditions; comparisons on numbers and pointers.",
        bad="n / 2",
        good="n // 2",
    ),
    Code(
        "TM2032",
        "a condition that is no condition",
        "What `if`, `while`, `and`, `or`, `not` and `assume` take is b1.",
        bad="if n:",
        good="if n != 0:",
    ),
    Code(
        "TM2033",
        "effects inside an expression",
        "A call that writes memory, synchronises or prints is the whole value of a statement, so that "
        "its place in time is plain.",
        bad="y[i] = 1 + atomic_add(address(n[0]), 1)",
        good="old = atomic_add(address(n[0]), 1)\ny[i] = 1 + old",
    ),
    Code(
        "TM2034",
        "wrong indices",
        "A pointer takes one index, an array or tensor one per dimension; indices are integers.",
        bad="A[i]  # A: Tensor[f32, M, K]",
        good="A[i, 0]",
    ),
    Code(
        "TM2035",
        "a struct or member that does not exist",
        "Struct types are declared in the file or are CUDA's vector types.",
        bad="v.w  # v: float3",
        good="v.z",
    ),
    Code(
        "TM2036",
        "a literal that does not fit its type",
        "Integers are in their type's range, floats are numbers of their type.",
    ),
    Code(
        "TM2037",
        "a named constant that the module does not have",
        "A fault of a pass: a constant is used with a value or type that the module does not give it.",
    ),
    Code(
        "TM2038",
        "a reduction that is not defined",
        "`sum`, `prod`, `max` and `min` fold numbers, `any` and `all` conditions; the range counts in "
        "one integer type.",
        bad="any(x[i] for i in range(n))",
        good="any(x[i] > 0.0 for i in range(n))",
    ),
    Code(
        "TM2039",
        "a wrong call",
        "The callee exists and takes these types; kernels are launched and not called.",
    ),
    Code(
        "TM2040",
        "an address of something that is not stored",
        "Only variables, elements and members have addresses; pointers move by integers.",
        bad="address(x + 1.0)",
        good="address(x)",
    ),
    Code(
        "TM2041",
        "a conversion that does not exist",
        "Casts go between numbers, between pointers, and between pointers and 64-bit integers; "
        "`bitcast` between numbers of one size.",
        bad="bitcast(u64, x)  # x: f32",
        good="bitcast(u32, x)",
    ),
    Code(
        "TM2042",
        "an initial value that does not fit",
        "A struct takes one value per member, an array at most one per element.",
    ),
    Code(
        "TM2043",
        "an axis that is not x, y or z",
        "A fault of a pass.",
    ),
    Code(
        "TM2044",
        "a declaration that does not fit",
        "Numbers, pointers and structs are declared with a type and a value of it; arrays are allocated.",
        bad="a: Array[f32, 4]",
        good="a = local(f32, 4)",
    ),
    Code(
        "TM2045",
        "a store that does not fit",
        "A store goes into a variable, an element or a member, of the value's type; whole arrays are "
        "not stored.",
    ),
    Code(
        "TM2046",
        "a loop's variable is written",
        "Only its loop writes the variable of a `for`; only a call's shapes give dimensions their values.",
        bad="for i in range(n):\n    i = i + 1",
        good="use a while loop",
    ),
    Code(
        "TM2047",
        "a range that does not fit",
        "The variable, bounds and step of a `for` have one integer type, and the step is a constant "
        "that is not 0.",
        bad="for i in range(0, n, s):",
        good="a while loop with `with step:`",
    ),
    Code(
        "TM2048",
        "a loop's bounds change inside it",
        "A `for` evaluates its bounds once; its body may not write what they read.",
        bad="for i in range(n):\n    n = n - 1",
        good="use a while loop",
    ),
    Code(
        "TM2049",
        "a jump that does not fit",
        "`break` and `continue` stand in a loop. The iterations of a parallel loop are independent: "
        "`break` and `return` do not leave one.",
        bad="for i in parallel(range(n)):\n    break",
        good="for i in range(n):",
    ),
    Code(
        "TM2050",
        "a result that does not fit",
        "What is returned has the declared type, and a function with a result returns one.",
        bad="def f(x: f32) -> f32: ... return",
        good="return x",
    ),
    Code(
        "TM2051",
        "a comment that is not one line",
        "A fault of a pass.",
    ),
    Code(
        "TM2052",
        "nesting that Python's parser would not read back",
        "Python stops at 100 indents, 20 nested loops and 200 parentheses. The pass `hoist` names "
        "parts of deep expressions; regions have to move to functions.",
    ),
    Code(
        "TM2053",
        "a launch index above the thread level",
        "A loop-level kernel has no threads: `gridDim` and `blockDim` stand only in `assume`, which is asked "
        "once a launch, `threadIdx` and `blockIdx` nowhere.",
        bad="i = i32(threadIdx.x)",
        good="for i in parallel(range(n)):",
    ),
    Code(
        "TM2054",
        "synchronisation above the thread level",
        "A loop-level kernel has no threads to synchronise and no memory that a block shares.",
        bad="syncthreads()",
        good='remove it, or write @tile_kernel(level="thread")',
    ),
    Code(
        "TM2055",
        "a pointer above the thread level",
        "Above the thread level memory is tensors with shapes; only an atomic operation takes an "
        "element's address.",
        bad="def f(x: Ptr[f32]):",
        good="def f(x: Tensor[f32, N]):",
    ),
    Code(
        "TM2056",
        "a tensor at the thread level",
        "A thread-level kernel takes pointers, as CUDA's do.",
        bad='@tile_kernel(level="thread")\ndef f(x: Tensor[f32, N]):',
        good="def f(x: Ptr[f32], n: i32):",
    ),
    Code(
        "TM2057",
        "an operation on whole tensors below the tensor level",
        "Loops work on elements. Whole tensors are combined at the tensor level.",
        bad="@tile_kernel\ndef f(...): C = A @ B",
        good='@tile_kernel(level="tensor")',
    ),
    Code(
        "TM2060",
        "an argument that a kernel cannot take",
        "The number of arguments, an argument's type, its number of dimensions or its element type is "
        "not what the kernel's signature says.",
        bad="f(x.astype(np.float64))  # x: Tensor[FP32, N]",
        good="f(x)",
    ),
    Code(
        "TM2061",
        "extents that contradict",
        "A dimension has one value in a call: the shapes of two arguments, or an argument's shape and "
        "the signature, say different ones.",
        bad="matmul(np.ones((2, 3)), np.ones((4, 5)))",
        good="matmul(np.ones((2, 3)), np.ones((3, 5)))",
    ),
    Code(
        "TM2062",
        "a kernel without text",
        "A kernel is read from its file; a function made by `exec` or typed into a plain interpreter "
        "has none.",
    ),
    Code(
        "TM2063",
        "a result that the launcher cannot allocate",
        "A kernel returns a number, one of its arguments, or one tensor that it allocates in its "
        "outermost region, with extents known at the call.",
        bad="for i in range(n):\n    C = allocate(f32, i)",
        good="C = allocate(f32, n)",
    ),
    Code(
        "TM2064",
        "a wrong launch",
        "Thread-level kernels are launched as kernel[grid, block](...), others called as kernel(...) "
        "or kernel.cuda(grid, block, ...).",
        bad="saxpy(n, a, x, y)  # thread level",
        good="saxpy[(n + 255) // 256, 256](n, a, x, y)",
    ),
    Code(
        "TM2065",
        "an assumption that does not hold",
        "The lifted kernel was shown equal under assumptions about its launch, and this launch breaks "
        "one. With `kernel.thread` set, the thread-level kernel would run instead.",
        bad="saxpy.cuda(1, 32, 1000, ...)",
        good="saxpy.cuda(4, 256, 1000, ...)",
    ),
    Code(
        "TM2066",
        "a kernel that ended early",
        "A failed assertion, a trap, or a use of barriers or lanes that CUDA leaves undefined.",
    ),
    Code(
        "TM2901",
        "matrix product: shapes or settings do not fit",
        "The operands of a matrix product are two matrices of shapes (m, k) and (k, n); 'out', where given, "
        "is of shape (m, n), and 'beta' needs it. At least one thread works on it.",
        bad="matmul(a, b)  # a: (2, 3), b: (2, 3)",
        good="matmul(a, b.T)",
    ),
    Code(
        "TM2902",
        "matrix product: type or layout not supported",
        "The operands and 'out' are NumPy arrays of one type, float32 or float64, in the machine's byte "
        "order. Operands may have any strides; the elements of 'out' must be writable and lie apart.",
        bad="matmul(a, b)  # a: float32, b: float64",
        good="matmul(a, b.astype(np.float32))",
    ),
)
