import StrictText

/// The keys that the file of a configuration sets, each with its value as text, to tell what another version of the file changes.
struct WrittenKeys: Sendable, Equatable {
  private var values: [ConfigurationPath: String] = [:]
  /// SHA-256 of the file's text; empty without a file.
  var digest: [UInt8] = []

  /// Tables whose members are a plugin's own, or a value as a whole.
  private static let whole: Set<String> = ["settings", "payload"]
  /// Characters of a value that are shown.
  private static let shown = 200

  /// Configurations that say the same are equal, however they are written.
  static func == (left: Self, right: Self) -> Bool { true }

  /// No keys, as without a file.
  init() {}

  init(_ root: [String: ConfigurationValue]) {
    for (key, value) in root { add(value, at: [key]) }
  }

  private mutating func add(_ value: ConfigurationValue, at path: ConfigurationPath) {
    switch value {
    case .table(let members) where !members.isEmpty && !path.keys.contains(where: Self.whole.contains):
      for (key, member) in members { add(member, at: path.appending(key)) }
    case .array(let elements) where !elements.isEmpty && elements.allSatisfy(\.isTable):
      for (index, element) in elements.enumerated() { add(element, at: path.appending(index)) }
    case .table, .array, .string, .integer, .number, .bool, .date: values[path] = value.json
    }
  }

  /// A key with its values before and now, of which one at least is there.
  struct Change {
    let path: ConfigurationPath
    let before, after: String?

    /// Whether it is the key at these names or below it.
    func isAt(_ keys: [String]) -> Bool { Array(path.components.prefix(keys.count)) == ConfigurationPath(keys: keys).components }

    var isSecret: Bool { path.mayHoldSecret }
    var shownBefore: String? { before.map(WrittenKeys.cut) }
    var shownAfter: String? { after.map(WrittenKeys.cut) }
  }

  var isEmpty: Bool { values.isEmpty }

  /// What differs in another version, in the order of the keys' names.
  func changes(to other: WrittenKeys) -> [Change] {
    Set(values.keys).union(other.values.keys).map { Change(path: $0, before: values[$0], after: other.values[$0]) }
      .filter { $0.before != $0.after }
      .map { ($0.path.description, $0) }.sorted { $0.0 < $1.0 }.map(\.1)
  }

  /// The same, with all that is at or below some names as another version has it.
  func keeping(_ names: [String], of other: WrittenKeys) -> WrittenKeys {
    func isThere(_ path: ConfigurationPath) -> Bool { Change(path: path, before: nil, after: nil).isAt(names) }
    var kept = self
    kept.values = values.filter { !isThere($0.key) }
    kept.values.merge(other.values.filter { isThere($0.key) }) { _, other in other }
    return kept
  }

  private static func cut(_ text: String) -> String { text.count <= shown ? text : text.prefix(shown) + "…" }
}

extension ConfigurationPath {
  /// The keys without the indices.
  fileprivate var keys: [String] {
    components.compactMap { component in if case .key(let key) = component { key } else { nil } }
  }
}
