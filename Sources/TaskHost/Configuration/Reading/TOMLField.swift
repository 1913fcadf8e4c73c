/// A key of a table: its name, and how its value gets into a structure.
struct TOMLField<Root> {
  let name: String
  /// The keys that it stands for, from the table it is in: its name, or those of its own table as `retry.attempts`. A name that the operator
  /// chooses is `*`.
  let keys: [String]
  let read: (inout Root, ConfigurationValue, ConfigurationPath, TOMLReader) -> Void

  /// A key with a reading of its own.
  ///
  /// - Parameter inner: The keys of its table, if it is one.
  init(_ name: String, inner: [String] = [], read: @escaping (inout Root, ConfigurationValue, ConfigurationPath, TOMLReader) -> Void) {
    self.name = name
    keys = inner.isEmpty ? [name] : inner.map { "\(name).\($0)" }
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
    self.init(name, inner: fields.flatMap(\.keys)) { root, value, path, reader in
      guard let table = reader.table(value, at: path) else { return }
      reader.read(table, fields, into: &root[keyPath: place], at: path)
    }
  }

  /// A list of tables, each with keys of its own, some of which it must have.
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
