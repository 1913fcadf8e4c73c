import Glibc

/// Reads how much of a file system is free.
struct StorageProbe {
  private let path: String
  private let rule: StorageRule

  init(path: String, rule: StorageRule) {
    self.path = path
    self.rule = rule
  }

  /// What is free now to those who are not root.
  func read() -> Reading {
    var facts = statvfs()
    guard statvfs(path, &facts) == 0 else {
      return .unknown("\(path) cannot be looked at, which counts as storage enough: \(TextFile.reason(errno))")
    }
    let block = UInt64(facts.f_frsize)
    let free = UInt64(facts.f_bavail)
    // As df computes it: what is reserved for root is no part of the whole.
    let total = UInt64(facts.f_blocks) &- UInt64(facts.f_bfree) &+ free
    var reading = rule.storage(
      free: free.multipliedReportingOverflow(by: block).partialValue, total: total.multipliedReportingOverflow(by: block).partialValue)
    if reading.leaning != .unknown { reading.observed += " at \(path)" }
    return reading
  }
}
