import StrictText
import TaskModel

extension TOMLReader {
  /// Tables by identifiers, as `plugin` and `command` have them.
  ///
  /// - Parameter make: The value of an empty table.
  func identifiedTables<Table>(
    _ value: ConfigurationValue, at path: ConfigurationPath, _ fields: [TOMLField<Table>], make: () -> Table
  ) -> [String: Table] {
    guard let tables = table(value, at: path) else { return [:] }
    let names = fields.map(\.name)
    var read: [String: Table] = [:]
    for (identifier, value) in tables.sorted(by: { $0.key < $1.key }) {
      let place = path.appending(identifier)
      // [plugin.org.example.sync] without quotes is a table org with a table example with a table sync.
      if !identifier.contains("."), case .table(let inner) = value,
        let (key, _) = inner.first(where: { !names.contains($0.key) && $0.value.isTable }),
        NearestName.nearest(to: key, among: names) == nil
      {
        report(place, "an identifier with dots stands in quotes: [\(path).\"\(identifier).\(key)…\"]")
        continue
      }
      if (try? TaskIdentifier(identifier)) == nil {
        report(place, "\"\(identifier)\" is not an identifier: 1 to 128 of A-Z a-z 0-9 . _ -, the first a letter or digit")
      }
      guard let table = table(value, at: place) else { continue }
      var made = make()
      self.read(table, fields, into: &made, at: place)
      read[identifier] = made
    }
    return read
  }
}
