/// A key of a table: its name, and how its value gets into a structure.
struct TOMLField<Root> {
  let name: String
  let read: (inout Root, ConfigurationValue, ConfigurationPath, TOMLReader) -> Void

  /// A key with a reading of its own.
  init(_ name: String, read: @escaping (inout Root, ConfigurationValue, ConfigurationPath, TOMLReader) -> Void) {
    self.name = name
    self.read = read
  }

  /// A key with a value; one with a problem leaves the default.
  init<Value>(_ name: String, _ place: WritableKeyPath<Root, Value>, _ converter: TOMLConverter<Value>) {
    self.init(name) { root, value, path, reader in
      if let converted = converter.convert(value, path, reader) { root[keyPath: place] = converted }
    }
  }

  /// A key whose absence means something: nil.
  init<Value>(_ name: String, optional place: WritableKeyPath<Root, Value?>, _ converter: TOMLConverter<Value>) {
    self.init(name) { root, value, path, reader in
      if let converted = converter.convert(value, path, reader) { root[keyPath: place] = converted }
    }
  }

  /// A table with keys of its own.
  init<Value>(_ name: String, _ place: WritableKeyPath<Root, Value>, table fields: [TOMLField<Value>]) {
    self.init(name) { root, value, path, reader in
      guard let table = reader.table(value, at: path) else { return }
      reader.read(table, fields, into: &root[keyPath: place], at: path)
    }
  }

  /// A list of tables, each with keys of its own, some of which it must have.
  init<Value>(
    _ name: String, _ place: WritableKeyPath<Root, [Value]>, tables fields: [TOMLField<Value>], required: [String],
    make: @escaping () -> Value
  ) {
    self.init(name) { root, value, path, reader in
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
