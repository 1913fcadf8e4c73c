import StrictText

/// One object of the settings while it is read: hands out its members by kind, and collects what is wrong instead of stopping there.
struct SettingsTable {
  /// Where the object stands, as `accounts[0]`; empty at the top.
  let place: String
  private(set) var problems: [String] = []
  private let members: [String: JSONValue]

  /// - Parameter known: Its members' names; any other is a problem that names the nearest of these.
  init(_ value: JSONValue, place: String, known: [String]) {
    self.place = place
    guard case .object(let members) = value else {
      self.members = [:]
      problems = ["\(place.isEmpty ? "they are" : place + " is") not a table"]
      return
    }
    self.members = members
    for key in members.keys.sorted() where !known.contains(key) {
      let hint = NearestName.nearest(to: key, among: known).map { "did you mean \($0)?" } ?? "known: \(known.joined(separator: ", "))"
      report(key, "is not known (\(hint))")
    }
  }

  /// A text that is not empty; nil when there is none.
  mutating func text(_ key: String) -> String? {
    guard let value = members[key] else { return nil }
    guard let text = value.text else {
      report(key, "must be a text that is not empty")
      return nil
    }
    return text
  }

  /// As ``text(_:)``, and a problem when there is none.
  mutating func requiredText(_ key: String) -> String? {
    if members[key] == nil { report(key, "is missing") }
    return text(key)
  }

  mutating func flag(_ key: String) -> Bool? {
    guard let value = members[key] else { return nil }
    guard case .bool(let flag) = value else {
      report(key, "must be true or false")
      return nil
    }
    return flag
  }

  mutating func list(_ key: String) -> [JSONValue] {
    guard let value = members[key] else { return [] }
    guard case .array(let list) = value else {
      report(key, "must be a list")
      return []
    }
    return list
  }

  /// The members of a table whose values are texts, by name; empty when there is none.
  mutating func texts(_ key: String) -> [(name: String, value: String)] {
    guard let value = members[key] else { return [] }
    guard case .object(let table) = value else {
      report(key, "must be a table of texts")
      return []
    }
    return table.sorted { $0.key < $1.key }.compactMap { name, value in
      guard let text = value.text else {
        report("\(key).\(name)", "must be a text that is not empty")
        return nil
      }
      return (name, text)
    }
  }

  func value(_ key: String) -> JSONValue? { members[key] }

  mutating func report(_ key: String, _ problem: String) {
    problems.append("\(place.isEmpty ? "" : place + ".")\(key) \(problem)")
  }
}
