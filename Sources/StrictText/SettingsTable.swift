/// An object of a plugin's settings or of a payload. It returns members by kind, and collects problems instead of stopping at the first.
///
/// A member of the wrong kind is a problem and reads as absent.
public struct SettingsTable {
  /// The problems so far: for each, a clause with its place and what to write instead.
  public private(set) var problems: [String] = []
  private let place: String
  private let members: [String: JSONValue]

  /// Reads an object. Any other value is a problem and has no members.
  ///
  /// - Parameters:
  ///   - place: The path of the object, such as `rules[2]`; empty for the top level.
  ///   - known: The allowed names of members; any other name is a problem, which suggests the nearest of these.
  public init(_ value: JSONValue, at place: String, known: [String]) {
    self.place = place
    guard case .object(let members) = value else {
      self.members = [:]
      report(nil, "must be an object, not \(value.kindName)")
      return
    }
    self.members = members
    for key in members.keys.sorted() where !known.contains(key) {
      report(nil, "unknown key \"\(key)\"\(NearestName.hint(for: key, among: known))")
    }
  }

  /// Records a problem with the member `key`, or with the object itself if `key` is nil.
  public mutating func report(_ key: String?, _ problem: String) {
    let path = [place, key ?? ""].filter { !$0.isEmpty }.joined(separator: ".")
    problems.append(path.isEmpty ? problem : "\(path): \(problem)")
  }

  /// A member's value as written; nil if it is missing.
  public func value(_ key: String) -> JSONValue? { members[key] }

  /// A member that is a string; nil if it is missing.
  public mutating func string(_ key: String) -> String? {
    read(key, "a string") { if case .string(let text) = $0 { text } else { nil } }
  }

  /// A member that is a non-empty string; nil if it is missing.
  public mutating func text(_ key: String) -> String? {
    guard let text = string(key) else { return nil }
    guard text.isEmpty else { return text }
    report(key, "is empty")
    return nil
  }

  /// Like ``text(_:)``, but a missing member is a problem.
  public mutating func requiredText(_ key: String) -> String? {
    if members[key] == nil { report(key, "is missing") }
    return text(key)
  }

  /// A member that is a boolean; nil if it is missing.
  public mutating func flag(_ key: String) -> Bool? {
    read(key, "true or false") { if case .bool(let flag) = $0 { flag } else { nil } }
  }

  /// A member that is a whole number in `range`; nil if it is missing.
  public mutating func integer(_ key: String, in range: ClosedRange<Int>) -> Int? {
    let number = read(key, "a whole number") { if case .integer(let number) = $0 { Int(number) } else { nil } }
    guard let number, !range.contains(number) else { return number }
    report(key, "is \(number), must be \(range.lowerBound) to \(range.upperBound)")
    return nil
  }

  /// The elements of a member that is an array; none if it is missing.
  public mutating func array(_ key: String) -> [JSONValue] { elements(key, "an array") }

  /// The elements of a member that is an array of strings; none if it is missing.
  public mutating func strings(_ key: String) -> [String] {
    elements(key, "an array of strings").enumerated().compactMap { index, value in
      if case .string(let text) = value { return text }
      report("\(key)[\(index)]", "must be a string, not \(value.kindName)")
      return nil
    }
  }

  /// The members, sorted by name, of a member that is an object of non-empty strings; none if it is missing.
  public mutating func texts(_ key: String) -> [(name: String, value: String)] {
    let members: [String: JSONValue]? = read(key, "an object with strings") { if case .object(let members) = $0 { members } else { nil } }
    return (members ?? [:]).sorted { $0.key < $1.key }.compactMap { name, value in
      if case .string(let text) = value, !text.isEmpty { return (name, text) }
      report("\(key).\(name)", "must be a string that is not empty")
      return nil
    }
  }

  private mutating func elements(_ key: String, _ wanted: String) -> [JSONValue] {
    read(key, wanted) { if case .array(let values) = $0 { values } else { nil } } ?? []
  }

  private mutating func read<Value>(_ key: String, _ wanted: String, _ take: (JSONValue) -> Value?) -> Value? {
    guard let value = members[key] else { return nil }
    if let taken = take(value) { return taken }
    report(key, "must be \(wanted), not \(value.kindName)")
    return nil
  }
}

/// All problems with a plugin's settings.
public struct SettingsProblems: Error, Sendable, Equatable, CustomStringConvertible {
  /// A clause for each problem, in order of discovery; never empty.
  public let problems: [String]

  /// Creates an error with these problems.
  public init(_ problems: [String]) { self.problems = problems }

  /// All problems. The host's log prefixes them with "settings: ".
  public var description: String { problems.joined(separator: "; ") }
}
