/// A key of the configuration: what it means, and its value in one configuration.
struct ConfigurationItem: Sendable, Equatable {
  /// How a listing names the tables whose names the operator chooses.
  enum Listing: Sendable {
    /// Each table of a configuration, by its name.
    case values
    /// One table with `*` for its name, and each table's own entry before its keys.
    case reference
  }

  /// Where it is in the file.
  var path: ConfigurationPath
  /// The same with `*` for each name that the operator has chosen, and without indices.
  var pattern: ConfigurationPath
  /// What a value is: `duration, 1s to 366d`; ``table`` or ``tables`` for a table itself.
  let type: String
  /// What it means: one or more sentences.
  let about: String
  /// The value as the file has it; nil if there is none.
  let value: String?
  /// Whether the value may hold a secret.
  let isSecret: Bool

  /// The type of a table.
  static let table = "table"
  /// The type of tables that the operator names, or of a list of tables.
  static let tables = "tables"

  /// A key of a table that is not in other tables yet.
  init(_ name: String, type: String, about: String, value: String?, isSecret: Bool = false) {
    (path, pattern) = ([name], [name])
    (self.type, self.about, self.value, self.isSecret) = (type, about, value, isSecret)
  }

  /// The key with those of its tables, `*` for each name that the operator has chosen: `plugin.*.budget`.
  var key: String {
    pattern.components.map { component in if case .key(let key) = component { key } else { "" } }.joined(separator: ".")
  }

  var isTable: Bool { type == Self.table || type == Self.tables }

  /// The value as anybody may see it.
  var shown: String? { isSecret && value != nil ? Self.hidden : value }

  /// What stands for a secret.
  static let hidden = "\"•••\""

  /// The item as one of the table `name`.
  func within(_ name: String) -> Self {
    var item = self
    (item.path, item.pattern) = (path.within(.key(name)), pattern.within(.key(name)))
    return item
  }

  /// The item as one of the table that an operator has called `name`.
  func withinNamed(_ name: String) -> Self {
    var item = self
    (item.path, item.pattern) = (path.within(.key(name)), pattern.within(.key("*")))
    return item
  }

  /// The item as one of an element of a list.
  func withinElement(_ index: Int) -> Self {
    var item = self
    item.path = path.within(.index(index))
    return item
  }
}
