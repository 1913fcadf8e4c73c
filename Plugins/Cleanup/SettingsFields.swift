import StrictText

/// The members of one object in the settings, read by name and kind. A member of the wrong kind is a problem, and reads as absent.
struct SettingsFields {
  /// A hundred years in milliseconds.
  private static let longestDuration: Int64 = 100 * 366 * 86_400_000

  /// Where the object is, as `rules[2]`.
  let place: String
  private let members: [String: JSONValue]
  /// What was wrong so far.
  private(set) var problems: [String] = []

  init(place: String, members: [String: JSONValue]) {
    self.place = place
    self.members = members
  }

  /// Notes a problem with the member `key`, or with the object itself when nil.
  mutating func problem(_ key: String?, _ text: String) {
    problems.append(key.map { "\(place).\($0): \(text)" } ?? "\(place): \(text)")
  }

  /// The member as written.
  func take(_ key: String) -> JSONValue? { members[key] }

  mutating func bool(_ key: String) -> Bool? {
    switch members[key] {
    case .bool(let value)?: return value
    case nil, .null?: return nil
    case .some(let other):
      problem(key, "must be true or false, not \(other.kindName)")
      return nil
    }
  }

  mutating func string(_ key: String) -> String? {
    switch members[key] {
    case .string(let value)?: return value
    case nil, .null?: return nil
    case .some(let other):
      problem(key, "must be a string, not \(other.kindName)")
      return nil
    }
  }

  mutating func requiredString(_ key: String) -> String? {
    let before = problems.count
    let value = string(key)
    if value == nil, problems.count == before { problem(key, "is missing") }
    return value
  }

  mutating func integer(_ key: String, in range: ClosedRange<Int>) -> Int? {
    switch members[key] {
    case .integer(let value)? where range.contains(Int(value)): return Int(value)
    case nil, .null?: return nil
    case .integer(let value)?: problem(key, "is \(value), must be \(range.lowerBound) to \(range.upperBound)")
    case .some(let other): problem(key, "must be a whole number, not \(other.kindName)")
    }
    return nil
  }

  mutating func strings(_ key: String) -> [String] {
    switch members[key] {
    case nil, .null?: return []
    case .array(let values)?:
      return values.enumerated().compactMap { index, value in
        if case .string(let text) = value { return text }
        problem("\(key)[\(index)]", "must be a string, not \(value.kindName)")
        return nil
      }
    case .some(let other):
      problem(key, "must be an array of strings, not \(other.kindName)")
      return []
    }
  }

  mutating func duration(_ key: String) -> Duration? {
    guard let text = string(key) else { return nil }
    let milliseconds = try? DurationFormat.milliseconds(of: text[...], units: DurationFormat.unitsWithWeeks.dropLast())
    if let milliseconds, milliseconds <= Self.longestDuration { return .milliseconds(milliseconds) }
    problem(key, "\"\(text)\" is no duration; write whole numbers and s, m, h, d or w, as \"7d\"")
    return nil
  }

  mutating func byteCount(_ key: String) -> UInt64? {
    guard let text = string(key) else { return nil }
    if let value = try? ByteCountFormat.bytes(of: text) { return UInt64(value) }
    problem(key, "\"\(text)\" is no size; write a whole number and B, kB, MB, GB, TB, KiB, MiB, GiB or TiB, as \"1GiB\"")
    return nil
  }
}
