/// The triggers that wait for a drain, as the identifier's state keeps them: each key with the number of its last trigger, by which a drain
/// tells what it has done from what came meanwhile.
struct CoalescedSet: Codable, Equatable {
  /// The keys that one set holds; more become ``everything``.
  static let keyLimit = 10_000
  /// Bytes of a state value.
  static let byteLimit = 1 << 20

  /// When the first trigger came, milliseconds since 1970; nil if there is none.
  var since: Int64?
  /// The number of the last trigger.
  var last: UInt64 = 0
  var keys: [String: UInt64] = [:]
  /// The number of the last trigger since there are too many keys to keep.
  var everything: UInt64?
  /// Whether a drain has begun and none has come to the end since: its request is running, snoozed or waiting for its next attempt.
  var isDraining = false

  var isEmpty: Bool { keys.isEmpty && everything == nil }

  /// What there is to do, oldest trigger first.
  var changes: [(change: CoalescedChange, number: UInt64)] {
    if let everything { return [(.everything, everything)] }
    return keys.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.map { (.key($0.key), $0.value) }
  }

  /// Takes a trigger.
  ///
  /// - Returns: Whether the set has changed and must be stored. While nobody drains it, a key that is in it already says nothing new.
  mutating func add(_ newKeys: [String], at now: Int64) -> Bool {
    let before = self
    for key in newKeys where isDraining || (keys[key] == nil && everything == nil) {
      last += 1
      if everything == nil { keys[key] = last } else { everything = last }
    }
    if keys.count > Self.keyLimit { overflow() }
    if since == nil, !isEmpty { since = now }
    return self != before
  }

  /// Gives up the single keys.
  mutating func overflow() {
    keys = [:]
    everything = last
  }

  /// Takes out what is done, unless it was triggered again after it was read.
  mutating func remove(_ done: [(change: CoalescedChange, number: UInt64)]) {
    for (change, number) in done {
      switch change {
      case .key(let key): if keys[key] == number { keys[key] = nil }
      case .everything: if everything == number { everything = nil }
      }
    }
  }
}
