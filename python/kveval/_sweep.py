"""kveval.run: a sweep as a child process."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from typing import Any, Iterator, Mapping, Optional, Union

from ._program import Error, program

_GRACE_SECONDS = 30  # the program itself takes ten at most


class Sweep(Iterator[Mapping[str, Any]]):
    """A sweep that is under way: an iterator of its progress, which ends with the sweep.

    Each item is what `kveval status --json` says: "state", "done", "total", "tokens_per_second", "eta_seconds" and
    others. Where the sweep fails, iterating raises kveval.Error with the program's own message. close(), the end of
    a `with`, and the end of the object stop the sweep; what it has decoded is kept, and the same call goes on from
    there.
    """

    def __init__(self, run: Union[Mapping[str, Any], str, os.PathLike[str]], out: Any, options: Mapping[str, Any]) -> None:
        self.messages: list[str] = []
        """Warnings so far, and the message of an error."""
        text = json.dumps(run, allow_nan=False) if isinstance(run, Mapping) else None
        path = "/dev/stdin" if text is not None else os.fspath(run)  # type: ignore[arg-type]
        command = [program(), "sweep", path, "-o", os.fspath(out), "--display", "json", *_flags(options)]
        self._child: subprocess.Popen[bytes] = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        # where the program keeps what it has read from standard input
        self._run = re.compile(rf"/proc/{self._child.pid}/fd/\d+" if text is not None else r"(?!)")
        assert self._child.stdin and self._child.stderr
        try:
            self._child.stdin.write((text or "").encode())
            self._child.stdin.close()
        except BrokenPipeError:  # it has ended: why is read below
            pass

    def __next__(self) -> Mapping[str, Any]:
        assert self._child.stderr
        while not self._child.stderr.closed and (line := self._child.stderr.readline()):
            text = line.decode("utf-8", "replace").rstrip("\n")
            if text.startswith("{"):
                now: Mapping[str, Any] = json.loads(text)
                return now
            text = text[len("kveval: ") :] if text.startswith("kveval: ") else text
            self.messages.append(self._run.sub("run", text))
        is_open = not self._child.stderr.closed
        self._child.stderr.close()
        code = self._child.wait()
        if is_open and code:
            raise Error(self._why(code), code)
        raise StopIteration

    def _why(self, code: int) -> str:
        errors = [text for text in self.messages if not text.startswith("warning: ")]
        if errors:
            return "\n".join(errors)
        if code < 0:
            return f"kveval sweep was ended by {signal.Signals(-code).name}"
        return f"kveval sweep ended with exit code {code}"

    def close(self) -> None:
        """Ends the sweep if it is still under way, and waits for it."""
        if self._child.stderr:
            self._child.stderr.close()  # nobody reads it any more, which the program does not mind
        if self._child.poll() is None:
            self._child.terminate()
            try:
                self._child.wait(_GRACE_SECONDS)
            except subprocess.TimeoutExpired:
                self._child.kill()
                self._child.wait()

    def __enter__(self) -> Sweep:
        return self

    def __exit__(self, *unused: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if hasattr(self, "_child"):
            self.close()


def _flags(options: Mapping[str, Any]) -> Iterator[str]:
    """step_timeout=5 is --step-timeout 5; True is a flag alone, and a list repeats it."""
    for name, value in options.items():
        flag = "--" + name.rstrip("_").replace("_", "-")
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if one is True:
                yield flag
            elif one is not None and one is not False:
                yield f"{flag}={one}"


def run(
    run: Union[Mapping[str, Any], str, os.PathLike[str]], out: Union[str, os.PathLike[str]], **options: Any
) -> Sweep:
    """Starts `kveval sweep` and returns an iterator of its progress.

    `run` is a run file as a dict, or its path; `out` the run folder. Further arguments are the options of
    `kveval sweep`: devices="cuda:0-3", limit=4, data="DATA", set=["seed=2"]. Relative names in a dict count from
    the working directory. A mistake in either raises kveval.Error at the first step, with the program's sentence.

    >>> for now in run("run.json", "out"): print(now["state"])  # doctest: +SKIP
    """
    return Sweep(run, out, options)
