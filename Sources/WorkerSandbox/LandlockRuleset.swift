import CWorkerSandbox
import TaskModel

/// The restrictions that Landlock will apply. Closes its descriptor at the end of its life.
struct LandlockRuleset: ~Copyable {
  private static let bindTCP: UInt64 = 1 << 0
  private static let connectTCP: UInt64 = 1 << 1
  private static let abstractUnixSockets: UInt64 = 1 << 0
  private static let signals: UInt64 = 1 << 1
  /// The port of DNS.
  private static let domain: UInt16 = 53

  private let descriptor: Int32
  private let abi: Int

  private init(descriptor: Int32, abi: Int) {
    self.descriptor = descriptor
    self.abi = abi
  }

  deinit { taskhost_sandbox_close(descriptor) }

  /// Denies everything that a kernel with this ABI (1 or more) can deny, except what rules allow.
  static func denyingAll(for network: Confinement.Network, abi: Int) throws(SandboxFailure) -> LandlockRuleset {
    let ports: UInt64 =
      switch network {
      case _ where abi < WorkerSandbox.abiOfPorts: 0
      case .connect: bindTCP
      case .none, .ports: bindTCP | connectTCP
      }
    let scopes = abi < 6 ? 0 : abstractUnixSockets | signals
    let files = LandlockFileAccess.known(to: abi).rawValue
    let descriptor = try check("making the Landlock ruleset", taskhost_sandbox_landlock_create(files, ports, scopes))
    return LandlockRuleset(descriptor: descriptor, abi: abi)
  }

  /// Adds a rule for everything that `confinement` allows.
  ///
  /// - Returns: A sentence for each entitlement whose path cannot be opened.
  func allow(_ confinement: Confinement) throws(SandboxFailure) -> [String] {
    var ignored: [String] = []
    let known = LandlockFileAccess.known(to: abi)
    for rule in FileRule.rules(of: confinement) {
      let opened = rule.followsLinks ? nil : confinement.opened[rule.path]
      let result = allow(rule.access.intersection(known), rule, opened)
      if result < 0, let entitlement = rule.entitlement {
        ignored.append("\(entitlement): \(rule.path): \(systemErrorText(-result)): it has no effect until the worker is started again")
      }
    }
    if case .ports(let list) = confinement.network, abi >= WorkerSandbox.abiOfPorts {
      for port in Set(list).union([Self.domain]) {
        try check("allowing port \(port)", taskhost_sandbox_landlock_allow_port(descriptor, Self.connectTCP, port))
      }
    }
    return ignored
  }

  /// Adds one rule; returns a negative errno on failure.
  private func allow(_ access: LandlockFileAccess, _ rule: FileRule, _ opened: Int32?) -> Int32 {
    if let opened { return taskhost_sandbox_landlock_allow(descriptor, opened, access.rawValue) }
    let found = rule.followsLinks ? taskhost_sandbox_open(rule.path) : taskhost_sandbox_open_without_links(rule.path)
    guard found >= 0 else { return found }
    let result = taskhost_sandbox_landlock_allow(descriptor, found, access.rawValue)
    if !rule.held || result != 0 { taskhost_sandbox_close(found) }
    return result
  }

  /// Applies the restrictions to the process, irrevocably.
  func apply() throws(SandboxFailure) {
    try check("applying the Landlock ruleset", taskhost_sandbox_landlock_restrict(descriptor))
  }
}
