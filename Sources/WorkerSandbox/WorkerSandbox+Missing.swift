import TaskModel

extension WorkerSandbox {
  /// What such a kernel cannot enforce for any confinement.
  static func missing(landlockABI abi: Int, seccomp: Bool) -> [String] {
    var missing: [String] = []
    if abi < 1 {
      missing.append("Landlock is not in this kernel, or switched off (lsm=): a plugin reaches every file its user does")
    } else {
      let found = "Landlock ABI \(abi)"
      if abi < 2 { missing.append("\(found) (2 came with Linux 5.19): no file can be moved from one folder to another") }
      if abi < 3 { missing.append("\(found) (3 came with Linux 6.2): truncating a file by its path is refused everywhere") }
      if abi < abiOfPorts { missing.append("\(found) (4 came with Linux 6.7): a list of ports is refused") }
      if abi < 5 { missing.append("\(found) (5 came with Linux 6.10): ioctl on a device that may be opened is not confined") }
      if abi < 6 {
        missing.append("\(found) (6 came with Linux 6.12): a plugin may send signals to itself alone, programs it starts to nobody")
      }
    }
    if !seccomp { missing.append("seccomp is not in this kernel: system calls are not confined (sockets, signals, new processes)") }
    return missing
  }

  /// What is not enforced of this confinement.
  static func missing(for confinement: Confinement, _ support: SandboxSupport) -> [String] {
    let counted = confinement.exec || !support.seccomp ? "processes and threads are" : "threads are"
    return ["limits.processes: \(counted) counted only in a delegated cgroup; nothing else limits them to \(confinement.processes)"]
  }
}
