/// How much of the processors a plugin's worker, with all that it starts, may use. Only a control group can enforce it.
///
/// - Source: https://docs.kernel.org/admin-guide/cgroup-v2.html#cpu
public struct ProcessorLimit: Sendable, Hashable {
  /// The worker's weight when processors are short, 1 to 10,000; nil means the kernel's default, 100.
  public var share: Int?
  /// The most that it may use, in percent of one processor; nil means no limit.
  public var quota: Int?

  /// A limit as given.
  public init(share: Int? = nil, quota: Int? = nil) { (self.share, self.quota) = (share, quota) }

  /// What the quota is measured over, in microseconds.
  private static let period = 100_000

  /// The files of a control group that set it, with what is written to them.
  var files: [(name: String, text: String)] {
    [
      share.map { ("cpu.weight", "\($0)") },
      quota.map { ("cpu.max", "\($0 * Self.period / 100) \(Self.period)") },
    ].compactMap { $0 }
  }

  /// What is not enforced without a group, a sentence each.
  var unenforced: [String] {
    [
      share.map { "limits.cpu.share: only a delegated cgroup with the cpu controller can give it the share \($0)" },
      quota.map { "limits.cpu.quota: only a delegated cgroup with the cpu controller can hold it to \($0)% of a processor" },
    ].compactMap { $0 }
  }
}

/// What a worker's control group limits.
struct GroupLimits: Sendable {
  /// Bytes that the plugin may use.
  var memory: Int
  /// Processes and threads that it may have.
  var processes: Int
  /// The processors.
  var processor = ProcessorLimit()
}
