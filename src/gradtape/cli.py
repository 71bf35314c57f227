"""The `gradtape` command: one function adds each subcommand, one runs it."""

import argparse
import io
import os
import sys
from collections.abc import Sequence
from importlib.machinery import SourceFileLoader
from types import ModuleType

from ._version import __version__
from .stand_in import install_as_tensorflow

EXIT_FAILURE = 1
EXIT_USAGE = 2
EXIT_INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line `argv` (default: the process's own) and return the exit code."""
    parser = _parser()
    options = parser.parse_args(argv)
    if options.execute is None:
        parser.print_help(sys.stderr)
        return EXIT_USAGE
    return options.execute(options)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="gradtape",
        description="TensorFlow's eager API and GradientTape on NumPy.",
    )
    parser.add_argument("--version", action="version", version=f"gradtape {__version__}")
    parser.set_defaults(execute=None)
    commands = parser.add_subparsers(title="commands", metavar="<command>")
    _add_run(commands)
    return parser


def _add_run(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    command = commands.add_parser(
        "run",
        help="run a TensorFlow script on gradtape",
        description="Run a Python script in which `import tensorflow` means gradtape.",
    )
    command.add_argument("script", help="path of the Python script")
    command.add_argument("args", nargs=argparse.REMAINDER, help="arguments for the script")
    command.set_defaults(execute=_run)


def _run(options: argparse.Namespace) -> int:
    try:
        source = _read_script(options.script)
    except OSError as error:
        reason = error.strerror or error
        print(f"gradtape run: cannot open {options.script!r}: {reason}", file=sys.stderr)
        return EXIT_USAGE
    install_as_tensorflow()
    return _execute(source, options.script, options.args)


def _read_script(path: str) -> bytes:
    with io.open_code(os.path.abspath(path)) as file:
        return file.read()


def _execute(source: bytes, path: str, args: Sequence[str]) -> int:
    """Run `source` as `python path args` would; the process is the script's from here on.

    Nothing is put back afterwards: exit handlers and threads of the script still use its module.
    """
    main_module = ModuleType("__main__")
    main_module.__file__ = os.path.abspath(path)
    main_module.__loader__ = SourceFileLoader("__main__", main_module.__file__)
    main_module.__dict__["__builtins__"] = sys.modules["builtins"]
    sys.modules["__main__"] = main_module
    sys.argv = [path, *args]
    if not sys.flags.safe_path:
        sys.path[0] = os.path.dirname(os.path.realpath(path))

    try:
        code = compile(source, main_module.__file__, "exec", dont_inherit=True)
        exec(code, main_module.__dict__)
    except SystemExit:
        raise
    except BaseException as error:
        # The first frame is this function: the user's traceback begins below it.
        own_frame = error.__traceback__
        frames = own_frame.tb_next if own_frame else None
        sys.excepthook(type(error), error.with_traceback(frames), frames)
        return EXIT_INTERRUPTED if isinstance(error, KeyboardInterrupt) else EXIT_FAILURE
    return 0
