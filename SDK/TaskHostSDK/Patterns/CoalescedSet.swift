/// A change since the last successful drain.
public enum CoalescedChange: Sendable, Equatable {
  /// The key of a trigger.
  case key(String)
  /// Too many keys to keep: everything may have changed.
  case everything
}

/// The stored triggers that wait for a drain: each key with the number of its last trigger, which distinguishes drained changes from newer
/// ones.
struct CoalescedSet: Equatable {
  /// The most keys of a set; more become ``everything``.
  static let keyLimit = 10_000
  /// The most bytes of a state value.
  static let byteLimit = 1 << 20

  /// When the first trigger came, milliseconds since 1970; nil if there is none.
  var since: Int64?
  var last: UInt64 = 0
  /// By their bytes: as strings, different spellings of a name would be one key, and files can have both.
  var keys: [[UInt8]: UInt64] = [:]
  /// The number of the last trigger since the set had too many keys.
  var everything: UInt64?
  /// Whether a drain has begun and not finished: its request is running, snoozed or waiting for its next attempt.
  var isDraining = false

  var isEmpty: Bool { keys.isEmpty && everything == nil }

  /// The pending changes, oldest trigger first.
  var changes: [(change: CoalescedChange, number: UInt64)] {
    if let everything { return [(.everything, everything)] }
    return numbered.map { (.key($0.name), $0.number) }
  }

  /// The keys in the order of their numbers.
  private var numbered: [(name: String, number: UInt64)] {
    keys.sorted { $0.value < $1.value }.map { (String(decoding: $0.key, as: UTF8.self), $0.value) }
  }

  /// Adds the keys of a trigger.
  ///
  /// - Returns: Whether the set has changed and must be stored. Without a drain in progress, a key already in the set changes nothing.
  mutating func add(_ newKeys: [String], at now: Int64) -> Bool {
    let before = self
    for key in newKeys.lazy.map({ Array($0.utf8) }) where isDraining || (keys[key] == nil && everything == nil) {
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
      case .key(let text):
        let key = Array(text.utf8)
        if keys[key] == number { keys[key] = nil }
      case .everything: if everything == number { everything = nil }
      }
    }
  }
}

extension CoalescedSet: Codable {
  private enum CodingKeys: String, CodingKey {
    case since, last, keys, names, numbers, everything, isDraining
  }

  /// Also reads the form in which `keys` was an object: its names could not differ in their spelling alone.
  init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    since = try values.decodeIfPresent(Int64.self, forKey: .since)
    last = try values.decode(UInt64.self, forKey: .last)
    let names = try values.decodeIfPresent([String].self, forKey: .names) ?? []
    let numbers = try values.decodeIfPresent([UInt64].self, forKey: .numbers) ?? []
    guard names.count == numbers.count else {
      throw DecodingError.dataCorruptedError(
        forKey: .numbers, in: values, debugDescription: "\(names.count) keys have \(numbers.count) numbers")
    }
    let former = try values.decodeIfPresent([String: UInt64].self, forKey: .keys) ?? [:]
    keys = Dictionary((former.map { ($0, $1) } + zip(names, numbers)).map { (Array($0.utf8), $1) }) { max($0, $1) }
    everything = try values.decodeIfPresent(UInt64.self, forKey: .everything)
    isDraining = try values.decode(Bool.self, forKey: .isDraining)
  }

  func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encodeIfPresent(since, forKey: .since)
    try values.encode(last, forKey: .last)
    let numbered = numbered
    try values.encode(numbered.map(\.name), forKey: .names)
    try values.encode(numbered.map(\.number), forKey: .numbers)
    try values.encodeIfPresent(everything, forKey: .everything)
    try values.encode(isDraining, forKey: .isDraining)
  }
}
