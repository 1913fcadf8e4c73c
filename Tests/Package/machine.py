"""Boots a root directory as a virtual machine, with Debian's own kernel and systemd."""
import os
import pathlib
import shutil
import subprocess

# What makes a root directory bootable.
KERNEL = "apt-get -q install -y --no-install-recommends linux-image-cloud-amd64 initramfs-tools systemd-sysv dbus"
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
START = "exec >/work/answers 2>&1\n"
END = "\necho 'the probe ended'\nsync\nsystemctl poweroff\n"
NETWORK = """
printf '[Match]\\nType=ether\\n[Network]\\nDHCP=yes\\n' > /etc/systemd/network/80-machine.network
systemctl enable systemd-networkd systemd-networkd-wait-online
echo 'nameserver 10.0.2.3' > /etc/resolv.conf
"""
# Of this machine, as guests see it.
USER_NETWORK = ["-netdev", "user,id=network", "-device", "virtio-net-pci,netdev=network"]


def answers(root, probe, limit, network=False, memory=1536):
    """What the script `probe` prints in the machine, which must end within `limit` seconds."""
    units = root.path / "etc/systemd/system"
    (units / "probe.service").write_text(UNIT)
    (units / "multi-user.target.wants/probe.service").symlink_to("../probe.service")
    (root.path / "work/probe").write_text(START + probe + END)
    if network:
        root.shell(NETWORK)
    for place in root.extra:
        shutil.copytree(place, f"{root.path}{place}", symlinks=True, dirs_exist_ok=True)
    image = root.path.parent / f"{root.path.name}.ext4"
    # A file that is there: mke2fs says that it creates one.
    image.touch()
    os.truncate(image, 8 << 30)
    subprocess.run(["mke2fs", "-q", "-t", "ext4", "-d", root.path, image], check=True)
    console = run(root, image, limit, memory, USER_NETWORK if network else [])
    text = subprocess.run(["debugfs", "-R", "cat /work/answers", image], capture_output=True, text=True, errors="replace").stdout
    if not text.endswith("the probe ended\n"):
        raise SystemExit(f"failed: the probe in the virtual machine did not end:\n{text}\n{console}")
    image.unlink()
    return text.removesuffix("the probe ended\n")


def run(root, image, limit, memory, network):
    """Runs the machine until it switches itself off, and returns what its console said."""
    boot = root.path / "boot"
    kernel, initial = next(boot.glob("vmlinuz-*")), next(boot.glob("initrd.img-*"))
    # The processor is emulated, which works on every machine. The root directory comes as a disk.
    ran = subprocess.run(
        ["timeout", "--kill-after=30", str(limit), "qemu-system-x86_64", "-machine", "accel=tcg", "-cpu", "max", "-nodefaults", "-no-reboot", "-display", "none",
         "-smp", "2", "-m", str(memory), "-kernel", kernel, "-initrd", initial,
         "-append", "root=/dev/vda rw console=ttyS0 init=/lib/systemd/systemd systemd.show_status=0 loglevel=3",
         "-drive", f"file={image},format=raw,if=virtio", "-device", "virtio-rng-pci", *network, "-serial", "stdio"],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
    return ran.stdout[-4000:] + ran.stderr[-2000:]
