"""A network of its own for each host, and cuts between a host and the database that nobody is told of."""

import os
import shutil
import subprocess
import sys

MARK = "TASKHOST_CHAOS_NETWORK"


def quiet(*command):
    return subprocess.run([*map(str, command)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


def enter():
    """Goes on in a network and with mounts of its own, so that nothing stays behind, whether or not this program ends well."""
    if MARK in os.environ or os.getuid() != 0 or not quiet("unshare", "--net", "--mount", "true"):
        return
    os.environ[MARK] = "1"
    os.execvp("unshare", ["unshare", "--net", "--mount", "--propagation", "private", "--", sys.executable, *sys.argv])


def missing():
    """Why there are no networks, or nothing."""
    if MARK not in os.environ:
        return "needs root, and a kernel with network namespaces"
    absent = [name for name in ("ip", "iptables", "nsenter") if shutil.which(name) is None]
    if absent:
        return f"needs {', '.join(absent)}"
    quiet("ip", "link", "set", "lo", "up")
    return "" if quiet("iptables", "-L", "-n") else "needs a kernel with iptables"


class Network:
    """A namespace with one cable, whose other end is at the database."""

    def __init__(self, number):
        self.database, self.cable = f"10.7.{number}.1", f"chaos{number}"
        self.holder = subprocess.Popen(["unshare", "--net", "sh", "-c", "echo; exec sleep infinity"], stdout=subprocess.PIPE)
        self.holder.stdout.readline()
        self.inside = ["nsenter", "-t", str(self.holder.pid), "--net", "--"]
        for command in [
            ["ip", "link", "add", self.cable, "type", "veth", "peer", "name", "outside", "netns", self.holder.pid],
            ["ip", "addr", "add", f"{self.database}/24", "dev", self.cable], ["ip", "link", "set", self.cable, "up"],
            [*self.inside, "ip", "link", "set", "lo", "up"],
            [*self.inside, "ip", "addr", "add", f"10.7.{number}.2/24", "dev", "outside"],
            [*self.inside, "ip", "link", "set", "outside", "up"],
        ]:
            subprocess.run([*map(str, command)], check=True)

    def cut(self, to_database=True, to_host=True):
        """From now on packets in these directions vanish; no end is told."""
        for wanted, chain, side in [(to_database, "INPUT", "-i"), (to_host, "OUTPUT", "-o")]:
            if wanted:
                subprocess.run(["iptables", "-A", chain, side, self.cable, "-j", "DROP"], check=True)

    def lose(self, share):
        """From now on so many of the packets vanish, in both directions."""
        for chain, side in [("INPUT", "-i"), ("OUTPUT", "-o")]:
            subprocess.run(["iptables", "-A", chain, side, self.cable, *self.some(share), "-j", "DROP"], check=True)
        self.share = share

    share = None

    @staticmethod
    def some(share):
        return ["-m", "statistic", "--mode", "random", "--probability", str(share)]

    def heal(self):
        for chain, side in [("INPUT", "-i"), ("OUTPUT", "-o")]:
            while quiet("iptables", "-D", chain, side, self.cable, "-j", "DROP"):
                pass
            while self.share and quiet("iptables", "-D", chain, side, self.cable, *self.some(self.share), "-j", "DROP"):
                pass

    def close(self):
        self.holder.kill()
        self.holder.wait()
        self.holder.stdout.close()
