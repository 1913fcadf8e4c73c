/// One object of a plugin's settings or of a payload: hands out its members by kind, and collects what is wrong instead of stopping there.
///
/// A member of the wrong kind is a problem and reads as absent.
public struct SettingsTable {
  /// What is wrong so far, a clause each, with its place and what to write instead.
  public private(set) var problems: [String] = []
  private let place: String
  private let members: [String: JSONValue]

  /// Reads an object; anything else is a problem, and then there are no members.
  ///
  /// - Parameters:
  ///   - place: Where the object is, as `rules[2]`; empty at the top.
  ///   - known: The names of its members; any other name is a problem that names the nearest of these.
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

  /// Records a problem with the member `key`; nil: with the object itself.
  public mutating func report(_ key: String?, _ problem: String) {
    let path = [place, key ?? ""].filter { !$0.isEmpty }.joined(separator: ".")
    problems.append(path.isEmpty ? problem : "\(path): \(problem)")
  }

  /// A member as it was written; nil if there is none.
  public func value(_ key: String) -> JSONValue? { members[key] }

  /// A string; nil if there is none.
  public mutating func string(_ key: String) -> String? {
    read(key, "a string") { if case .string(let text) = $0 { text } else { nil } }
  }

  /// A string that is not empty; nil if there is none.
  public mutating func text(_ key: String) -> String? {
    guard let text = string(key) else { return nil }
    guard text.isEmpty else { return text }
    report(key, "is empty")
    return nil
  }

  /// As ``text(_:)``; a missing member is a problem.
  public mutating func requiredText(_ key: String) -> String? {
    if members[key] == nil { report(key, "is missing") }
    return text(key)
  }

  /// A truth value; nil if there is none.
  public mutating func flag(_ key: String) -> Bool? {
    read(key, "true or false") { if case .bool(let flag) = $0 { flag } else { nil } }
  }

  /// A whole number in `range`; nil if there is none.
  public mutating func integer(_ key: String, in range: ClosedRange<Int>) -> Int? {
    let number = read(key, "a whole number") { if case .integer(let number) = $0 { Int(number) } else { nil } }
    guard let number, !range.contains(number) else { return number }
    report(key, "is \(number), must be \(range.lowerBound) to \(range.upperBound)")
    return nil
  }

  /// The elements of an array; none if there is no such member.
  public mutating func array(_ key: String) -> [JSONValue] { elements(key, "an array") }

  /// The elements of an array of strings; none if there is no such member.
  public mutating func strings(_ key: String) -> [String] {
    elements(key, "an array of strings").enumerated().compactMap { index, value in
      if case .string(let text) = value { return text }
      report("\(key)[\(index)]", "must be a string, not \(value.kindName)")
      return nil
    }
  }

  /// The members of an object whose values are strings that are not empty, by name; none if there is no such member.
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

/// Everything that is wrong with a plugin's settings.
public struct SettingsProblems: Error, Sendable, Equatable, CustomStringConvertible {
  /// A clause each, in the order of discovery; never empty.
  public let problems: [String]

  /// Settings with these problems.
  public init(_ problems: [String]) { self.problems = problems }

  /// All of them. The host's log puts "settings: " in front.
  public var description: String { problems.joined(separator: "; ") }
}
