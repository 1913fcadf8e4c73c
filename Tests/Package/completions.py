"""Completes commands in bash, zsh and fish, as a person at a terminal does: with the Tab key."""
import os
import pty
import re
import select
import subprocess
import time

# What is typed, and some of what the shell must offer.
CASES = [
    ("taskhost ", ["submit", "tasks", "plugins", "status"]),
    ("taskhost tasks ", ["list", "show", "why", "cancel", "retry"]),
    ("taskhost tasks why --", ["--socket", "--json"]),
    ("taskhost plugins new --", ["--language", "--sdk"]),
]
# What must not be offered after `taskhost tasks `.
FOREIGN = ["inspect", "keygen"]
LIMIT = 20


class Shell:
    """A shell at a terminal of its own."""

    def __init__(self, command, environment):
        self.child, self.terminal = pty.fork()
        if self.child == 0:
            os.execvpe(command[0], command, environment)
        # Wide enough for all offers, without a pager.
        subprocess.run(["stty", "rows", "500", "cols", "200"], stdin=self.terminal, check=True)

    def until(self, mark):
        """What the terminal shows until `mark`."""
        shown, end = "", time.monotonic() + LIMIT
        while mark not in shown:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.terminal], [], [], left)[0]:
                raise SystemExit(f"the shell does not show {mark!r} within {LIMIT} s; it shows:\n{shown}")
            shown += re.sub(r"\x1b(\[[0-9;?>=]*[a-zA-Z]|[()][A-Z0-9]|[=>])", "", os.read(self.terminal, 65536).decode(errors="replace"))
        return shown

    def send(self, text):
        os.write(self.terminal, text.encode())

    def close(self):
        os.close(self.terminal)
        os.waitpid(self.child, 0)


def offers_of_terminal(command, environment, setup, typed, last):
    """What Tab shows: everything until the last of what is expected."""
    shell = Shell(command, environment)
    shell.send(setup + "; echo rea''dy\n")
    shell.until("ready")
    shell.send(typed + "\t\t")
    shown = shell.until(last)
    shell.send("\x03\nexit\n")
    shell.close()
    return shown


def check_completions(tree, programs, said):
    share = tree / "usr/share"
    environment = {"PATH": f"{programs}:/usr/bin:/bin", "TERM": "dumb", "HOME": str(tree), "LC_ALL": "C.UTF-8", "PS1": "$ ",
                   "XDG_DATA_HOME": str(tree), "XDG_CONFIG_HOME": str(tree)}
    shells = {
        "bash": (["bash", "--norc", "--noprofile", "-i"], f"bind 'set page-completions off'; . {share}/bash-completion/completions/taskhost"),
        "zsh": (["zsh", "-f", "-i"], f"fpath=({share}/zsh/vendor-completions $fpath); autoload -U compinit; compinit -u -D; LISTMAX=1000"),
    }
    for name, (command, setup) in shells.items():
        for typed, expected in CASES:
            missing = list(expected)
            # The order in which a shell lists them is its own.
            shown = offers_of_terminal(command, environment, setup, typed, missing.pop())
            for word in missing:
                if word not in shown:
                    shown = offers_of_terminal(command, environment, setup, typed, word)
            if typed == "taskhost tasks " and any(word in shown for word in FOREIGN):
                raise SystemExit(f"failed: {name} offers commands of another group after {typed!r}:\n{shown}")
        said(f"{name} completes {', '.join(repr(typed) for typed, _ in CASES)} at a terminal")
    for typed, expected in CASES:
        script = f"source {share}/fish/vendor_completions.d/taskhost.fish; complete -C '{typed}'"
        ran = subprocess.run(["fish", "--no-config", "-c", script], env=environment, text=True, capture_output=True)
        offers = [line.split("\t")[0] for line in ran.stdout.splitlines()]
        wanted = [word for word in expected if word not in offers]
        if wanted or typed == "taskhost tasks " and set(FOREIGN) & set(offers):
            raise SystemExit(f"failed: fish does not complete {typed!r} with {wanted}: {ran.stdout}{ran.stderr}")
    said("fish completes the same")
