"""Diagnostic codes of the command line and the environment."""

from tmigrate.codes import Code

CODES: tuple[Code, ...] = (
    Code(
        "TM5001",
        "no working compiler",
        "Regenerated kernels and the original are compiled on this machine. Neither $TMIGRATE_CC and "
        "$TMIGRATE_CXX, nor gcc/g++, nor clang/clang++ compiles a file that includes <math.h> and "
        "<vector>, and the ziglang package is not installed. `tmigrate doctor` lists what was tried.",
        bad="gcc, but an empty /usr/include",
        good='pip install "tmigrate[compiler]"',
    ),
    Code(
        "TM5002",
        "a compiler failed",
        "A compiler could not be started, did not finish, or did not accept code that tmigrate "
        "generated. The last is a fault of tmigrate: please report it with the lines shown.",
    ),
    Code(
        "TM5003",
        "no headers that libclang parses",
        "libclang's package has no C or C++ headers. Those of the system's compiler are tried first, "
        "then those of the ziglang package; none of them parsed cleanly.",
        good='pip install "tmigrate[compiler]"',
    ),
    Code(
        "TM5010",
        "wrong use of a command",
        "The arguments do not fit together. `tmigrate COMMAND --help` lists what a command takes.",
    ),
    Code(
        "TM5011",
        "an input that cannot be read",
        "The path does not exist, is not a regular file, or may not be read by this user. The other "
        "inputs of the same call are still worked on; the exit status is 2.",
        bad="tmigrate convert kernal.cu",
        good="tmigrate convert kernel.cu",
    ),
    Code(
        "TM5012",
        "a folder without inputs",
        "The folder holds no .cu or .onnx file, at any depth, other than those that another file "
        "includes. Folders whose names begin with a dot are not looked into.",
    ),
    Code(
        "TM5013",
        "an input that is not text",
        "A CUDA source is text in UTF-8 (or an encoding that contains ASCII); the file holds zero "
        "bytes, as objects, libraries and UTF-16 texts do.",
        bad="tmigrate convert kernel.o",
        good="tmigrate convert kernel.cu",
    ),
    Code(
        "TM5014",
        "an empty input",
        "There is nothing in the file. This is a warning: an input without kernels has the status `none`.",
    ),
    Code(
        "TM5015",
        "an input that is too large",
        "Parsing is bounded, so that an input from a stranger cannot exhaust this machine's memory.",
    ),
    Code(
        "TM5016",
        "an ONNX model",
        "This version converts CUDA sources only.",
    ),
    Code(
        "TM5020",
        "an output folder that cannot be written",
        "Found before any work: the folder, or the first of its parents that exists, is a file, or "
        "may not be written by this user, or its file system is full or read-only.",
        bad="tmigrate convert kernel.cu -o /usr",
        good="tmigrate convert kernel.cu -o converted",
    ),
    Code(
        "TM5021",
        "an output's name is taken",
        "A file of that name stands there that tmigrate never wrote: it has no entry in the "
        "certificate and no copy in the folder .tmigrate. Nothing was written.",
        good="move the file away, or choose another folder with -o",
    ),
    Code(
        "TM5022",
        "an edited output conflicts with the new conversion",
        "The output was edited since tmigrate wrote it, and the input changed too. Changes to "
        "different lines were merged; where both changed the same lines, both stand in the file, "
        "between git's conflict marks, and the exit status is 1.",
        good="edit the file: keep the lines that are right, delete the marks, and run `tmigrate verify`",
    ),
    Code(
        "TM5023",
        "an edited output was kept",
        "The output was edited since tmigrate wrote it. The edits stay: the file is left alone, or merged "
        "with the new conversion where that changed. The certificate speaks of tmigrate's own text, not of "
        "the edited one.",
        good="tmigrate verify kernel.cu",
    ),
    Code(
        "TM5030",
        "an internal error",
        "A fault of tmigrate, not of the input. `--debug` shows where it happened; please report it.",
    ),
    Code(
        "TM5031",
        "the conversion of an input was ended",
        "Each input is worked on in a process with limits of time and memory. This one crashed or "
        "reached them; the other inputs are not affected.",
    ),
    Code(
        "TM5040",
        "not a diagnostic code",
        "Codes are TM and four digits; `tmigrate explain` lists them all.",
        bad="tmigrate explain TM99",
        good="tmigrate explain TM5001",
    ),
    Code(
        "TM5041",
        "a mistake in tmigrate.toml",
        "The file is TOML with two kinds of tables. [program.NAME] has arguments, defines, include_folders, "
        "standard and instantiate; [kernel.NAME] has grid, block, shared, sizes and ranges.",
        bad='[program."solver.cu"]\nargs = ["-n", "100"]',
        good='[program."solver.cu"]\narguments = ["-n", "100"]',
    ),
    Code(
        "TM5042",
        "launch sites cannot be patched yet",
        "--patch is to write a diff that calls regenerated kernels in place of launches. There is no library "
        "yet that such a program could be linked with, so nothing is written.",
        bad="tmigrate convert solver.cu --patch",
        good="tmigrate run solver.cu -- -n 1003",
    ),
)
