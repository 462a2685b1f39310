"""Runs our signalling beside other people's: a virtual environment, the gateway program, and the cases of a run."""

import concurrent.futures
import os
import subprocess
import sys
import threading
import time
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GATEWAY = ROOT / ".build/debug/signalling-gateway"


class Unavailable(Exception):
    pass


def prepare(folder, packages, imports):
    """Goes on in an environment that has the packages."""
    python = folder / "bin" / "python3"
    if Path(sys.prefix).resolve() == folder.resolve():
        return
    if not python.exists() or subprocess.run([python, "-c", f"import {imports}"], capture_output=True).returncode != 0:
        venv.create(folder, with_pip=True)
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages]
        done = subprocess.run(pip, capture_output=True, text=True)
        if done.returncode != 0:
            raise Unavailable(f"{packages[0]} cannot be had: {done.stderr.strip().splitlines()[-1:]}")
    os.execv(python, [str(python), *sys.argv])


class Gateway:
    """A run of our program, with the lines that it printed."""

    def __init__(self, path, *arguments):
        self.lines, self.changed = [], threading.Condition()
        self.process = subprocess.Popen(
            [path, *map(str, arguments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            with self.changed:
                self.lines.append(line.strip())
                self.changed.notify_all()

    def wait(self, line, seconds=10, after=0):
        """Returns the first line that begins so, of those after a number of lines."""
        with self.changed:
            if not self.changed.wait_for(lambda: any(known.startswith(line) for known in self.lines[after:]), seconds):
                raise AssertionError(f"no '{line}' in {seconds} s; there is {self.lines[-12:]}")
            return next(known for known in self.lines[after:] if known.startswith(line))

    def say(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(timeout=10)


def until(what, holds, seconds=5):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"{what}: not in {seconds} s"
        time.sleep(0.02)


def play(cases, chosen, apart):
    """Plays cases by their names, those of `apart` beside each other, and returns the exit status of the program."""

    def outcome(name):
        began = time.monotonic()
        try:
            cases[name]()
        except Exception as error:  # noqa: BLE001
            print(f"FAIL {name}  ({type(error).__name__}: {error})", flush=True)
            return False
        print(f"PASS {name}  {time.monotonic() - began:.1f} s", flush=True)
        return True

    # Apps wait most of their time: they wait beside each other.
    waiting = [name for name in chosen if apart(name)]
    with concurrent.futures.ThreadPoolExecutor(max_workers=max(1, len(waiting))) as pool:
        futures = [pool.submit(outcome, name) for name in waiting]
        results = [outcome(name) for name in chosen if name not in waiting] + [each.result() for each in futures]
    print(f"{results.count(True)} passed, {results.count(False)} failed")
    return 0 if results and all(results) else 1
