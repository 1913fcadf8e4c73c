"""A Debian 12 of its own in a folder, and hosts that run in it."""
import atexit
import json
import os
import pathlib
import shutil
import subprocess

# Not in what is compared: caches, logs, and dpkg's records, which keep a list of files until a purge.
UNCOMPARED = ("proc/", "sys/", "dev/", "tmp/", "run/", "var/cache/", "var/log/", "var/lib/apt/", "var/lib/dpkg/", "work/", "etc/resolv.conf", "etc/ld.so.cache",
              "root/", "var/lib/systemd/catalog/")


class Root:
    """The folder, whose processes have a process table of their own."""

    def __init__(self, path, extra=(), archives=None):
        self.path = pathlib.Path(path)
        self.extra = list(extra)
        # Packages that were downloaded once.
        self.archives = pathlib.Path(archives) if archives else pathlib.Path("/nonexistent")

    @classmethod
    def base(cls, folder, mirror):
        """A minimal Debian 12, downloaded once."""
        archive = pathlib.Path(folder) / "bookworm-minbase.tar"
        if not archive.exists():
            archive.parent.mkdir(parents=True, exist_ok=True)
            fresh = archive.parent / "bookworm-minbase"
            shutil.rmtree(fresh, ignore_errors=True)
            subprocess.run(["debootstrap", "--variant=minbase", "bookworm", fresh, mirror], check=True, stdout=subprocess.DEVNULL)
            subprocess.run(["tar", "-C", fresh, "-cf", str(archive) + ".new", "."], check=True)
            os.rename(str(archive) + ".new", archive)
            shutil.rmtree(fresh)
        return archive

    @classmethod
    def unpacked(cls, archive, path, extra=()):
        path = pathlib.Path(path)
        path.mkdir(parents=True)
        subprocess.run(["tar", "-C", path, "-xf", archive], check=True)
        shutil.copy("/etc/resolv.conf", path / "etc/resolv.conf")
        (path / "work").mkdir()
        # Keeps what it downloads.
        (path / "etc/apt/apt.conf.d/99-package-check").write_text('Binary::apt::APT::Keep-Downloaded-Packages "true";\nAPT::Sandbox::User "root";\n')
        archives = pathlib.Path(archive).parent / "archives"
        (archives / "partial").mkdir(parents=True, exist_ok=True)
        return cls(path, extra, archives)

    def confined(self, command, user, writable):
        """As `arguments`, with what taskhost.service takes from a process, as far as that works without systemd."""
        path, arguments = self.path, self.arguments(command, user)
        # ProtectSystem=strict, ProtectKernelTunables=, PrivateTmp=, PrivateDevices=
        places = "; ".join([f"mount --bind {path}{place} {path}{place}" for place in writable] +
                           [f"mount --bind {place} {path}{place}" for place in self.extra])
        mounts = (f"mount --bind {path} {path}; mount -t proc proc {path}/proc; mount --rbind /sys {path}/sys; mount -t tmpfs none {path}/dev; "
                  f"for device in null zero full random urandom tty; do : > {path}/dev/$device; mount --bind /dev/$device {path}/dev/$device; done; "
                  f"mount -t tmpfs none {path}/tmp; {places}; mount -o remount,bind,ro {path}; mount -o remount,bind,ro {path}/sys; "
                  f"mount --bind {path}/proc/sys {path}/proc/sys; mount -o remount,bind,ro {path}/proc/sys; umask 0027; ")
        # NoNewPrivileges=, CapabilityBoundingSet=, and the filters of system calls
        switch = f"setpriv --reuid={user} --regid={user} --init-groups --no-new-privs --bounding-set=-all --inh-caps=-all /work/confine /work/calls"
        arguments[arguments.index("-ec") + 1] = f'{mounts}exec chroot {path} {switch} "$@"'
        return arguments

    def arguments(self, command, user=None):
        mounts = f"mount --rbind /dev {self.path}/dev; mount --rbind /sys {self.path}/sys; mount -t proc proc {self.path}/proc; "
        if self.archives.exists():
            mounts += f"mount --bind {self.archives} {self.path}/var/cache/apt/archives; "
        for place in self.extra:
            mounts += f"mkdir -p {self.path}{place}; mount --bind {place} {self.path}{place}; "
        switch = f"setpriv --reuid={user} --regid={user} --init-groups " if user else ""
        # A working directory that everybody may read.
        script = f'{mounts}exec chroot {self.path} {switch}"$@"'
        return ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-ec", script, "sh", *command]

    @property
    def environment(self):
        return {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8",
                "HOME": "/root"}

    def run(self, *command, user=None, expect=0):
        """What the command prints. Fails unless it exits with `expect` (None: with anything)."""
        ran = subprocess.run(self.arguments(command, user), env=self.environment, stdin=subprocess.DEVNULL, text=True, capture_output=True)
        if expect is not None and ran.returncode != expect:
            raise SystemExit(f"{' '.join(command)}: exited with {ran.returncode}, not {expect}\n{ran.stdout}{ran.stderr}")
        return ran.stdout

    def shell(self, script, **options):
        return self.run("sh", "-ec", script, **options)

    def files(self):
        """Everything in it with owner, mode and kind; for links, where they lead."""
        found = {}
        for place, folders, names in os.walk(self.path):
            for name in folders + names:
                path = os.path.join(place, name)
                relative = os.path.relpath(path, self.path)
                if not (relative + "/").startswith(UNCOMPARED):
                    info = os.lstat(path)
                    found[relative] = (oct(info.st_mode), info.st_uid, info.st_gid)
        return found

    def host(self, *options, user="taskhost", writable=None, configuration="/etc/taskhost/taskhost.toml"):
        """A host that runs; with `writable`, under the restrictions of the service, and these folders."""
        return RunningHost(self, (["--config", configuration] if configuration else []) + list(options), user, writable)


class RunningHost:
    """`taskhost run` in the foreground, from its launch on."""

    def __init__(self, root, options, user, writable):
        command = ["taskhost", "run", *options]
        self.lines = []
        arguments = root.confined(command, user, writable) if writable is not None else root.arguments(command, user)
        self.process = subprocess.Popen(arguments, env=root.environment, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                        text=True, cwd="/")
        atexit.register(self.process.kill)
        for line in self.process.stderr:
            self.lines.append(line.rstrip())
            if "control socket open" in line:
                return
        raise SystemExit("the host did not launch:\n" + "\n".join(self.lines))

    def messages(self):
        return [json.loads(line)["message"] if line.startswith("{") else line for line in self.lines]

    def stop(self, root, *socket):
        """Ends it, and returns its exit code."""
        root.run("taskhost", "shutdown", *(socket or ["--socket", "/run/taskhost/control.sock"]))
        self.lines += [line.rstrip() for line in self.process.stderr]
        return self.process.wait()
