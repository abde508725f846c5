"""The tile IR: types, nodes, intrinsics, verifier.  `docs/system.md` shows where it stands in the flow."""
