"""Diagnostic codes of DSL and IR."""

from tmigrate.codes import Code

CODES: tuple[Code, ...] = (
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
