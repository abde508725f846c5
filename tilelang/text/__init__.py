"""The text form of the IR: printer and parser, ``parse(print(ir)) == ir`` at every level."""
