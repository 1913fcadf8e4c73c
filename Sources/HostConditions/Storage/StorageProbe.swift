import Glibc

/// What a disk has left, as the condition `storage_not_low` reads it.
package struct StorageGlance: Sendable, Hashable {
  /// Whether the condition is lost there; false if the disk does not say.
  package let isLow: Bool
  /// What was read, for people.
  package let observed: String

  /// Reads the disk with the directory.
  package init(at path: String, _ settings: ConditionSettings) {
    let reading = StorageProbe(path: path, rule: StorageRule(settings)).read()
    (isLow, observed) = (reading.leaning == .lost, reading.observed)
  }
}

struct StorageProbe {
  let path: String
  let rule: StorageRule

  /// Counts only storage available to users other than root.
  func read() -> Reading { read(asEmpty: false) }

  /// What would be read if nobody had stored anything.
  func readAsEmpty() -> Reading { read(asEmpty: true) }

  private func read(asEmpty isEmpty: Bool) -> Reading {
    var facts = statvfs()
    guard statvfs(path, &facts) == 0 else {
      return .unknown("\(path) cannot be read, which counts as enough storage: \(TextFile.reason(errno))")
    }
    let block = UInt64(facts.f_frsize)
    let free = UInt64(facts.f_bavail)
    // As in df: the total excludes the share reserved for root.
    let total = UInt64(facts.f_blocks) &- UInt64(facts.f_bfree) &+ free
    var reading = rule.storage(
      free: (isEmpty ? total : free).multipliedReportingOverflow(by: block).partialValue,
      total: total.multipliedReportingOverflow(by: block).partialValue)
    if reading.leaning != .unknown { reading.observed += " at \(path)" }
    return reading
  }
}

/// Decides `storage_not_low` from free storage.
struct StorageRule: Sendable, Hashable {
  var share: Band
  var bytes: Band

  init(_ settings: ConditionSettings) {
    share = Band(lost: settings.storageLow, holds: settings.storageOK, moreIsBetter: true)
    bytes = Band(lost: Double(settings.storageLowBytes), holds: Double(settings.storageOKBytes), moreIsBetter: true)
  }

  /// - Parameter total: Excludes the share reserved for root.
  func storage(free: UInt64, total: UInt64) -> Reading {
    guard total > 0 else { return .unknown("the file system does not report its size, which counts as enough storage") }
    let percent = Double(free) / Double(total) * 100
    return Reading(
      leaning: .together([share.leaning(percent), bytes.leaning(Double(free))]),
      observed: "\(Quantity.bytes(free)) (\(Quantity.percent(percent))) free")
  }
}
