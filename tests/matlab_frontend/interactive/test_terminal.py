"""The prompt on a terminal; oracle: what a person sees there, in a pseudo-terminal."""

import os
import re
import select
import signal
import sys
import time
from pathlib import Path

import pytest

pty = pytest.importorskip("pty", reason="pseudo-terminals are Unix's")
readline = pytest.importorskip("readline", reason="this Python has no readline")
ROOT = Path(__file__).parents[3]
CONTROL_C, CONTROL_D, UP = "\x03", "\x04", "\x1b[A"


class Terminal:
    def __init__(self, folder):
        environment = {
            **os.environ,
            "XDG_DATA_HOME": str(folder / "data"),
            "PYTHONPATH": str(ROOT),
            "TERM": "vt100",
            "INPUTRC": os.devnull,
        }
        self.shown = ""
        self.process, self.terminal = pty.fork()
        if not self.process:
            os.chdir(folder)
            command = [sys.executable, "-m", "runmat_jit.matlab"]
            os.execve(sys.executable, command, environment)  # noqa: S606  (this is the child)

    def wait(self, text, again=""):
        """Read on until a text is there; gives what was shown up to it.

        ``again`` is typed once more where nothing comes: an interrupt has the terminal forget what
        it was about to show.
        """
        end = time.monotonic() + 60
        while text not in self.shown:
            assert time.monotonic() < end, self.shown
            if not select.select([self.terminal], [], [], 3)[0]:
                self.type(again)
                continue
            try:
                self.shown += os.read(self.terminal, 4096).decode()
            except OSError:  # the other end is closed
                break
        assert text in self.shown, self.shown
        before, _, self.shown = self.shown.partition(text)
        return re.sub(r"\x1b\[\??[0-9;]*[a-zA-Z]", "", before + text).replace("\r", "")

    def type(self, text):
        os.write(self.terminal, text.encode())

    def status(self):
        return os.waitstatus_to_exitcode(os.waitpid(self.process, 0)[1])


@pytest.fixture
def terminal(tmp_path):
    made = Terminal(tmp_path)
    try:
        made.wait(">> ")
        yield made
    finally:
        os.close(made.terminal)
        try:
            os.kill(made.process, signal.SIGKILL)
            os.waitpid(made.process, 0)
        except (ProcessLookupError, ChildProcessError):
            pass


def test_statements_are_run_completed_and_remembered(terminal, tmp_path):
    terminal.type("some_value = 6 * 7;\n")
    terminal.wait(">> ")
    terminal.type("disp(some_v\t)\n")
    assert "disp(some_value)\n    42\n" in terminal.wait(">> ")
    terminal.type("for k = 1:2\n")
    terminal.wait("\n   ")
    terminal.type("disp(-k)\nend\n")
    assert "    -1\n    -2\n" in terminal.wait(">> ").replace("\r", "")
    terminal.type("exit\n")
    assert terminal.status() == 0
    history = tmp_path / "data" / "runmat_jit" / "matlab_history"
    assert history.read_text().splitlines()[-5:] == [
        *("disp(some_value)", "for k = 1:2", "disp(-k)", "end", "exit")
    ]
    assert history.stat().st_mode & 0o077 == 0
    again = Terminal(tmp_path)
    again.wait(">> ")
    again.type(UP + UP + UP + UP + UP + "\n")
    again.wait("Unrecognized function or variable 'some_value'.")
    again.wait(">> ")
    again.type(CONTROL_D)
    assert again.status() == 0


def test_control_c_stops_a_statement_and_drops_a_line(terminal):
    terminal.type("disp('begun'), while true, end\n")
    terminal.wait("begun\r\n")
    time.sleep(0.5)
    terminal.type(CONTROL_C)
    terminal.wait("Operation terminated by user.", again=CONTROL_C)
    terminal.wait(">> ", again=CONTROL_C)
    terminal.type("x = [1 2\n")
    terminal.wait("\n   ")
    terminal.type(CONTROL_C)
    terminal.wait(">> ", again=CONTROL_C)
    terminal.type("disp(5)\n")
    terminal.wait("     5")
    terminal.wait(">> ")
    terminal.type("exit(3)\n")
    assert terminal.status() == 3


def test_input_asks_the_person_at_the_terminal(terminal):
    terminal.type("n = input('how many? ');\n")
    terminal.wait("\nhow many? ")
    terminal.type("12\n")
    terminal.wait(">> ")
    terminal.type("disp(n + 1)\n")
    terminal.wait("    13")
