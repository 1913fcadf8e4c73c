import CWorkerSandbox
import Glibc
public import TaskModel

/// Confines the calling process, a plugin's worker, to its limits and entitlements.
public enum WorkerSandbox {
  /// The maximum size of a file in bytes that a worker may write; its memory limit, if that is more. Not configurable.
  static let fileSize: UInt64 = 1 << 30
  /// How many signals and timers may be pending of its user, of all processes together, if it is to get more: it could leave none to others.
  static let pendingSignals: UInt64 = 1024
  /// Bytes of memory it may lock.
  static let lockedMemory: UInt64 = 64 << 10
  /// The oldest ABI of Landlock that limits TCP ports.
  static let abiOfPorts = 4

  /// Confines this process permanently, in this order: capabilities, `no_new_privs`, Landlock, limits, seccomp.
  ///
  /// Call it while there is a single thread. Omits and reports what the kernel lacks, but refuses what ``rejections(to:landlockLimit:)``
  /// lists.
  ///
  /// - Parameter landlockLimit: The newest Landlock ABI to use; nil means what the kernel has.
  /// - Throws: What went wrong. The process can be partly confined then and must not load the plugin.
  public static func apply(_ confinement: Confinement, landlockLimit: Int?) throws(SandboxFailure) -> SandboxReport {
    if let rejection = rejections(to: confinement, landlockLimit: landlockLimit).first {
      throw SandboxFailure(step: rejection, errno: 0, remedy: "nothing was changed")
    }
    let support = support(landlockLimit: landlockLimit)
    var report = SandboxReport(missing: support.missing)
    let program = ownProgram()
    try check("giving up capabilities", taskhost_sandbox_drop_capabilities())
    try check("PR_SET_NO_NEW_PRIVS", taskhost_sandbox_no_new_privileges())
    if support.landlockABI > 0 {
      let ruleset = try LandlockRuleset.denyingAll(for: confinement.network, abi: support.landlockABI)
      report.ignored = try ruleset.allow(confinement)
      try ruleset.apply()
    }
    for descriptor in confinement.opened.values { taskhost_sandbox_close(descriptor) }
    // Last, because more descriptors may be open than the limit allows.
    try limit(to: confinement, &report)
    var filter = filter(of: confinement, landlockABI: support.landlockABI)
    if support.seccomp { try check("loading the seccomp filter", taskhost_sandbox_filter(&filter)) }
    taskhost_sandbox_remember(&filter)
    rememberPaths(of: confinement, program: program)
    report.missing += missing(for: confinement, support)
    return report
  }

  /// Paths that every worker may read, with links followed, besides its plugin's entitlements. With write access beside one of them, a
  /// plugin could make all workers read what it links there.
  public static let everybodysPaths = FileRule.everybodys

  /// The folders in which programs must be, or below them, that a sandbox with `exec` lets its plugin start. Links are followed.
  public static let programFolders = FileRule.startable

  /// What this kernel offers. Changes nothing.
  ///
  /// - Parameter landlockLimit: The newest Landlock ABI to count; nil means what the kernel has.
  public static func support(landlockLimit: Int?) -> SandboxSupport {
    let found = Int(taskhost_sandbox_landlock_abi())
    let abi = max(0, min(found, landlockLimit ?? found))
    let seccomp = taskhost_sandbox_has_seccomp()
    return SandboxSupport(landlockABI: abi, seccomp: seccomp, missing: missing(landlockABI: abi, seccomp: seccomp))
  }

  /// What of a confinement this kernel cannot do at all, so that it must be refused; a sentence each.
  ///
  /// - Parameter landlockLimit: As for ``support(landlockLimit:)``.
  public static func rejections(to confinement: Confinement, landlockLimit: Int?) -> [String] {
    guard case .ports = confinement.network else { return [] }
    let support = support(landlockLimit: landlockLimit)
    var rejections: [String] = []
    if support.landlockABI < abiOfPorts {
      rejections.append(
        "entitlements.network: a list of ports needs Landlock ABI \(abiOfPorts) (Linux 6.7), this kernel has "
          + "\(support.landlockABI == 0 ? "none" : "\(support.landlockABI)"): set it to \"connect\" or \"none\", or use a newer kernel")
    }
    if !support.seccomp {
      rejections.append(
        "entitlements.network: a list of ports needs seccomp, which this kernel lacks: set it to \"connect\" or \"none\"")
    }
    return rejections
  }

  private static func limit(to confinement: Confinement, _ report: inout SandboxReport) throws(SandboxFailure) {
    let memory = UInt64(max(0, confinement.memory))
    let limits: [(taskhost_sandbox_limit, String, UInt64)] = [
      (TASKHOST_SANDBOX_DATA, "limits.memory", memory),
      (TASKHOST_SANDBOX_DESCRIPTORS, "limits.descriptors", UInt64(max(0, confinement.descriptors))),
      (TASKHOST_SANDBOX_FILE_SIZE, "the size of a file", max(memory, fileSize)),
      (TASKHOST_SANDBOX_CORE, "core files", 0),
      (TASKHOST_SANDBOX_LOCKED_MEMORY, "locked memory", lockedMemory),
      (TASKHOST_SANDBOX_REALTIME, "real-time priority", 0),
      (TASKHOST_SANDBOX_PENDING_SIGNALS, "pending signals", pendingSignals),
    ]
    for (limit, name, value) in limits {
      if limit == TASKHOST_SANDBOX_DATA, taskhost_sandbox_is_sanitized() {
        report.missing.append("\(name): not in a build with a sanitizer")
        continue
      }
      var granted: UInt64 = 0
      try check("limiting \(name)", taskhost_sandbox_set_limit(limit, value, &granted))
      if granted < value { report.missing.append("\(name): \(value) asked for, but this process may have no more than \(granted)") }
    }
  }

  /// What the denials of this process take for no ordinary path. Libraries look through `/proc` and beside the program (`Bundle.main`).
  private static func rememberPaths(of confinement: Confinement, program: String?) {
    taskhost_sandbox_remember_path(TASKHOST_SANDBOX_LIBRARIES, "/proc")
    if let folder = program.flatMap({ path in path.lastIndex(of: "/").map { String(path[..<$0]) } }), !folder.isEmpty {
      taskhost_sandbox_remember_path(TASKHOST_SANDBOX_LIBRARIES, folder)
    }
    // Read before anything connects: the denial of the connection says what is missing.
    if confinement.network == .none {
      for path in FileRule.certificates { taskhost_sandbox_remember_path(TASKHOST_SANDBOX_LIBRARIES, path) }
    }
    if let directory = confinement.dataDirectory { taskhost_sandbox_remember_path(TASKHOST_SANDBOX_PLUGINS, directory) }
    for entry in confinement.reserved { taskhost_sandbox_remember_reserved(entry.path, UInt32(entry.refusals.rawValue)) }
  }

  /// The program that this process runs; nil if the system does not say.
  private static func ownProgram() -> String? {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4096) { buffer in
      guard let start = buffer.baseAddress else { return nil }
      let length = readlink("/proc/self/exe", start, buffer.count)
      guard length > 0, length < buffer.count else { return nil }
      return String(decoding: buffer[..<length].lazy.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
  }

  private static func filter(of confinement: Confinement, landlockABI: Int) -> taskhost_sandbox_filter {
    let network: taskhost_sandbox_network =
      switch confinement.network {
      case .none: TASKHOST_SANDBOX_NO_NETWORK
      case .connect: TASKHOST_SANDBOX_CONNECT
      case .ports: TASKHOST_SANDBOX_PORTS
      }
    return taskhost_sandbox_filter(
      network: network, landlock_abi: Int32(landlockABI), execution: confinement.exec)
  }
}

/// Passes on what a system call of the sandbox answered; a negative errno is thrown.
@discardableResult
func check(_ step: String, _ result: Int32) throws(SandboxFailure) -> Int32 {
  guard result < 0 else { return result }
  throw SandboxFailure(
    step: step, errno: -result, remedy: "the plugin was not loaded; check the kernel and the limits the host itself runs under")
}
