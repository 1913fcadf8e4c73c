/// A change since the last successful drain.
public enum CoalescedChange: Sendable, Equatable {
  /// The key of a trigger.
  case key(String)
  /// Too many keys to keep: everything may have changed.
  case everything
}

/// The stored triggers that wait for a drain: each key with the number of its last trigger, which distinguishes drained changes from newer
/// ones.
struct CoalescedSet: Codable, Equatable {
  /// The most keys of a set; more become ``everything``.
  static let keyLimit = 10_000
  /// The most bytes of a state value.
  static let byteLimit = 1 << 20

  /// When the first trigger came, milliseconds since 1970; nil if there is none.
  var since: Int64?
  var last: UInt64 = 0
  var keys: [String: UInt64] = [:]
  /// The number of the last trigger since the set had too many keys.
  var everything: UInt64?
  /// Whether a drain has begun and not finished: its request is running, snoozed or waiting for its next attempt.
  var isDraining = false

  var isEmpty: Bool { keys.isEmpty && everything == nil }

  /// The pending changes, oldest trigger first.
  var changes: [(change: CoalescedChange, number: UInt64)] {
    if let everything { return [(.everything, everything)] }
    return keys.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.map { (.key($0.key), $0.value) }
  }

  /// Adds the keys of a trigger.
  ///
  /// - Returns: Whether the set has changed and must be stored. Without a drain in progress, a key already in the set changes nothing.
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

  /// Replaces the single keys by "everything may have changed".
  mutating func overflow() {
    keys = [:]
    everything = last
  }

  /// Removes drained changes, unless they were triggered again after they were read.
  mutating func remove(_ done: [(change: CoalescedChange, number: UInt64)]) {
    for (change, number) in done {
      switch change {
      case .key(let key): if keys[key] == number { keys[key] = nil }
      case .everything: if everything == number { everything = nil }
      }
    }
  }
}
