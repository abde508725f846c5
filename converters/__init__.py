"""Front ends and lifting: CUDA source and ONNX graphs become tile IR."""
