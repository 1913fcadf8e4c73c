"""Boots the root directory as a virtual machine with Debian's own kernel and systemd, and lets systemd run the service."""
import pathlib
import shutil
import subprocess

# Seconds until the machine must have switched itself off: it takes three minutes.
LIMIT = 1200
UNIT = """
[Unit]
After=multi-user.target taskhost.service
[Service]
Type=oneshot
TimeoutStartSec=infinity
ExecStart=/bin/bash /work/probe
[Install]
WantedBy=multi-user.target
"""
PROBE = r"""
exec >/work/answers 2>&1
export TASKHOST_SOCKET=/run/taskhost/control.sock
groups=/sys/fs/cgroup/system.slice/taskhost.service
# Waits until another process than $1 answers as the host.
launched() {
  for attempt in {1..600}; do
    if [ "$(process)" != "${1:-0}" ] && { taskhost status >/dev/null 2>&1 || [ $? = 1 ]; }; then return; fi
    sleep 0.2
  done
  echo "no host answers"
}
process() { systemctl show -P MainPID taskhost; }
# The group of the worker that has a processor limit.
limited() { for group in $groups/worker-*; do if [ "$(cat $group/cpu.weight)" = 20 ]; then echo $group; fi; done; }
used() { grep -o 'usage_usec [0-9]*' "$(limited)/cpu.stat" | cut -d' ' -f2; }
launched
echo "kernel: $(uname -r)"
echo "active: $(systemctl is-active taskhost)"
echo "exposure: $(systemd-analyze security taskhost --no-pager | tail -1 | grep -o '[0-9]\.[0-9]')"
echo "group: $(grep -o '^0::.*' /proc/$(process)/cgroup)"
echo "capabilities: $(grep -h CapBnd /proc/$(process)/status | cut -f2)"
taskhost submit com.example.allowed --wait >/dev/null 2>&1; echo "allowed: $?"
taskhost submit com.example.denied --wait >/dev/null 2>&1; echo "denied: $?"
echo "written: $(ls /srv/check /srv/other | tr '\n' ' ')"
echo "workers: $(ls -d $groups/worker-* | wc -l)"
taskhost submit com.example.busy >/dev/null
for attempt in {1..100}; do [ -n "$(limited)" ] && [ "$(used)" -gt 100000 ] && break; sleep 0.1; done
echo "processes: $(cat $(limited)/pids.max)"
echo "quota: $(cat $(limited)/cpu.max)"
before=$(used); sleep 3; echo "busy: $(( ($(used) - before) / 30000 ))"
echo "status: $(taskhost status --json)"
echo "journal: $(journalctl -q -o cat TASKHOST_IDENTIFIER=com.example.allowed | wc -l)"
echo "told: $(systemctl show -P StatusText taskhost)"
before=$(process)
echo 'max_pending = 77' | cat - /etc/taskhost/taskhost.toml >/work/changed
cp /etc/taskhost/taskhost.toml /work/unchanged
cat /work/changed >/etc/taskhost/taskhost.toml
systemctl reload taskhost; echo "reloaded: $? $([ "$(process)" = "$before" ] && echo same) $(systemctl is-active taskhost)"
echo 'max_pendin = 78' | cat - /work/unchanged >/etc/taskhost/taskhost.toml
systemctl reload taskhost; echo "unreloaded: $? $([ "$(process)" = "$before" ] && echo same) $(systemctl is-active taskhost)"
cat /work/unchanged >/etc/taskhost/taskhost.toml
dpkg --force-confold -i /work/taskhost.deb >/dev/null
launched "$before"
echo "upgraded: $(systemctl is-active taskhost) $([ "$(process)" != "$before" ] && echo anew)"
before=$(process)
kill -9 "$before"
launched "$before"
echo "killed: $(systemctl is-active taskhost)"
before=$(process)
kill -STOP "$before"
launched "$before"
echo "stuck: $(systemctl is-active taskhost) $(journalctl -q -u taskhost -o cat | grep -c 'Watchdog timeout')"
systemctl stop taskhost
echo "stopped: $(systemctl show -P Result taskhost) $(systemctl show -P ExecMainStatus taskhost)"
systemctl start taskhost@me
export TASKHOST_SOCKET=/run/taskhost@me/control.sock
launched x
taskhost submit me.note --wait >/dev/null 2>&1; echo "user: $? $(cat /home/me/note)"
dpkg --purge taskhost >/dev/null 2>&1
echo "purged: $(systemctl is-active taskhost@me)"
echo "failed: $(systemctl --failed --no-legend --plain | grep -c taskhost)"
sync
systemctl poweroff
"""
USER = """
useradd -m me
cd /home/me && install -d -o me -g me .config .config/taskhost .config/taskhost/plugins .local
printf '[command."me.note"]\\nshell = "echo done > note"\\n' > .config/taskhost/taskhost.toml
"""
KERNEL = "apt-get -q install -y --no-install-recommends linux-image-cloud-amd64 initramfs-tools systemd-sysv dbus"


def answers(root, commands):
    """What the probe says, by names."""
    root.shell("install -d -o taskhost -g taskhost /srv/check /srv/other" + USER)
    root.shell(KERNEL)
    configuration = root.path / "etc/taskhost/taskhost.toml"
    configuration.write_text(configuration.read_text() + commands)
    units = root.path / "etc/systemd/system"
    (units / "taskhost.service.d").mkdir()
    # Both may be written as far as the unit is concerned: the sandbox decides. The watchdog is as short as the test.
    (units / "taskhost.service.d/paths.conf").write_text("[Service]\nReadWritePaths=/srv/check /srv/other\nWatchdogSec=10s\n")
    (units / "probe.service").write_text(UNIT)
    (units / "multi-user.target.wants/probe.service").symlink_to("../probe.service")
    (root.path / "work/probe").write_text(PROBE)
    for place in root.extra:
        shutil.copytree(place, f"{root.path}{place}", symlinks=True, dirs_exist_ok=True)
    image = root.path.parent / "system.ext4"
    subprocess.run(["mke2fs", "-q", "-t", "ext4", "-d", root.path, image, "4G"], check=True)
    console = run(root, image)
    text = subprocess.run(["debugfs", "-R", "cat /work/answers", image], capture_output=True, text=True).stdout
    found = dict(line.split(": ", 1) for line in text.splitlines() if ": " in line)
    if "failed" not in found:
        raise SystemExit(f"failed: the probe in systemd did not end:\n{text}\n{console}")
    return found


def run(root, image):
    """Runs the machine until it switches itself off, and returns what its console said."""
    boot = root.path / "boot"
    kernel, memory = next(boot.glob("vmlinuz-*")), next(boot.glob("initrd.img-*"))
    # The processor is emulated, which works on every machine. The root directory comes as a disk, and there is no network.
    ran = subprocess.run(
        ["timeout", "--kill-after=30", str(LIMIT), "qemu-system-x86_64", "-machine", "accel=tcg", "-cpu", "max", "-nodefaults", "-no-reboot", "-display", "none",
         "-smp", "2", "-m", "1536", "-kernel", kernel, "-initrd", memory,
         "-append", "root=/dev/vda rw console=ttyS0 init=/lib/systemd/systemd systemd.show_status=0 loglevel=3",
         "-drive", f"file={image},format=raw,if=virtio", "-device", "virtio-rng-pci", "-serial", "stdio"],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
    return ran.stdout[-4000:] + ran.stderr[-2000:]
