"""The runner's end of a worker process."""

import contextlib
import json
import os
import subprocess
import tempfile
import threading
from pathlib import Path
from typing import Any, Self

from venvs import Environment

WORKER = Path(__file__).with_name("worker.py")
QUIET = {"TF_CPP_MIN_LOG_LEVEL": "3", "JAX_PLATFORMS": "cpu"}


class WorkerError(Exception):
    """A worker could not start, ended early, or could not carry out a request."""


class WorkerProcess:
    """A contender's process, which computes only while a request to it is being waited for."""

    def __init__(
        self,
        contender: str,
        environment: Environment,
        field: str = "libraries",
        patience: float = 900.0,
    ) -> None:
        self.contender = contender
        self.patience = patience
        self.log = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115 (`close` does)
        self.process = subprocess.Popen(
            [environment.python, WORKER, field, contender],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            encoding="utf-8",
            env=os.environ | QUIET | environment.variables,
        )
        try:
            self.versions: dict[str, str] = self.read_answer()
        except WorkerError:
            self.close()
            raise

    def request(self, command: str, **arguments: Any) -> dict[str, Any]:
        """Ask the worker for something and wait for its answer.

        Raises:
            WorkerError: The worker failed, ended, or took longer than its patience.
        """
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps({"command": command, **arguments}) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise WorkerError(self.last_words()) from None
        return self.read_answer()

    def read_answer(self) -> dict[str, Any]:
        """Return the next line of the worker, which is killed if it takes too long."""
        assert self.process.stdout is not None
        alarm = threading.Timer(self.patience, self.process.kill)
        alarm.start()
        try:
            line = self.process.stdout.readline()
        finally:
            alarm.cancel()
        if not line:
            raise WorkerError(self.last_words())
        answer = json.loads(line)
        if "error" in answer:
            raise WorkerError(answer["error"])
        return answer

    def last_words(self) -> str:
        """Return the last line that an ended worker wrote to standard error."""
        status = self.process.wait()
        self.log.seek(0)
        lines = [line.strip() for line in self.log if line.strip()]
        return f"worker ended with status {status}: {lines[-1] if lines else 'no message'}"

    def close(self) -> None:
        """End the process."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        # A worker that died may have left a request unread.
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        self.log.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
