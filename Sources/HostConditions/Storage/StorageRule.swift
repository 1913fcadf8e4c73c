/// What free storage means for `storage_not_low`.
struct StorageRule: Sendable, Hashable {
  /// Free share in percent.
  var share: Band
  /// Free bytes.
  var bytes: Band

  init(_ settings: ConditionSettings) {
    share = Band(lost: settings.storageLow, holds: settings.storageOK, moreIsBetter: true)
    bytes = Band(lost: Double(settings.storageLowBytes), holds: Double(settings.storageOKBytes), moreIsBetter: true)
  }

  /// Whether `free` of `total` bytes, which is without those kept for root, are enough.
  func storage(free: UInt64, total: UInt64) -> Reading {
    guard total > 0 else { return .unknown("the file system does not say how large it is, which counts as storage enough") }
    let percent = Double(free) / Double(total) * 100
    return Reading(
      leaning: .together([share.leaning(percent), bytes.leaning(Double(free))]),
      observed: "\(Quantity.bytes(free)) (\(Quantity.percent(percent))) free")
  }
}
