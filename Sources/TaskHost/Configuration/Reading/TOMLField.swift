/// A key of a table: its name, and how to store its value in a structure.
struct TOMLField<Root> {
  let name: String
  /// Its name, or the keys of its own table, such as `retry.attempts`. `*` stands for a name that the operator chooses.
  let keys: [String]
  /// The keys of its own table, without its name; none if it is not a table.
  let innerKeys: [String]
  let read: (inout Root, ConfigurationValue, ConfigurationPath, TOMLReader) -> Void

  /// - Parameter inner: The keys of its table, if it is one.
  init(_ name: String, inner: [String] = [], read: @escaping (inout Root, ConfigurationValue, ConfigurationPath, TOMLReader) -> Void) {
    self.name = name
    innerKeys = inner
    keys = inner.isEmpty ? [name] : inner.map { "\(name).\($0)" }
    self.read = read
  }

  /// If the value has a problem, the default remains.
  init<Value>(_ name: String, _ place: WritableKeyPath<Root, Value>, _ converter: TOMLConverter<Value>) {
    self.init(name) { root, value, path, reader in
      if let converted = converter.convert(value, path, reader) { root[keyPath: place] = converted }
    }
  }

  /// A missing key means nil.
  init<Value>(_ name: String, optional place: WritableKeyPath<Root, Value?>, _ converter: TOMLConverter<Value>) {
    self.init(name) { root, value, path, reader in
      if let converted = converter.convert(value, path, reader) { root[keyPath: place] = converted }
    }
  }

  init<Value>(_ name: String, _ place: WritableKeyPath<Root, Value>, table fields: [TOMLField<Value>]) {
    self.init(name, inner: fields.flatMap(\.keys)) { root, value, path, reader in
      guard let table = reader.table(value, at: path) else { return }
      reader.read(table, fields, into: &root[keyPath: place], at: path)
    }
  }

  /// A list of tables, some of whose keys are required.
  init<Value>(
    _ name: String, _ place: WritableKeyPath<Root, [Value]>, tables fields: [TOMLField<Value>], required: [String],
    make: @escaping () -> Value
  ) {
    self.init(name, inner: fields.flatMap(\.keys)) { root, value, path, reader in
      guard case .array(let values) = value else {
        reader.reportType(value, at: path, expected: "a list of tables, [[\(name)]]")
        return
      }
      for (index, value) in values.enumerated() {
        let path = path.appending(index)
        guard let table = reader.table(value, at: path) else { continue }
        for key in required where table[key] == nil { reader.report(path, "\(path) has no \"\(key)\"") }
        var element = make()
        reader.read(table, fields, into: &element, at: path)
        root[keyPath: place].append(element)
      }
    }
  }
}
