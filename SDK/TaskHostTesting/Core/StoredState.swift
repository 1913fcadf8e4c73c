import CTaskHost

/// The durable values of one identifier, within the limits of the contract.
struct StoredState {
  private static let keyLimit = 10_000
  private static let byteLimit = 64 << 20

  private(set) var values: [String: [UInt8]] = [:]
  private var bytes = 0

  /// Writes a value; `nil` deletes it. Nothing changes where that is refused.
  mutating func set(_ key: String, _ value: [UInt8]?) throws(CallFailure) {
    let before = values[key]
    let bytes = bytes - (before?.count ?? 0) + (value?.count ?? 0)
    if value != nil, before == nil, values.count >= Self.keyLimit {
      throw CallFailure(TASKHOST_ELIMIT, "the state has \(Self.keyLimit) keys, the most there may be")
    }
    if value != nil, bytes > Self.byteLimit { throw CallFailure(TASKHOST_ELIMIT, "the state would have more than 64 MiB") }
    values[key] = value
    self.bytes = bytes
  }
}
