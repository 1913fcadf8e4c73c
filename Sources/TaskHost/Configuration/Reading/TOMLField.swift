/// A key of a table: its name, what it means, and how its value is stored in a structure and read from there.
///
/// The lists of fields are the one table of keys: the reader, the reference and every comparison of configurations go by it.
struct TOMLField<Root> {
  let name: String
  /// Its name, or the keys of its own table, such as `retry.attempts`. `*` stands for a name that the operator chooses.
  let keys: [String]
  /// The keys of its own table, without its name; none if it is not a table.
  let innerKeys: [String]
  let read: (inout Root, ConfigurationValue, ConfigurationPath, TOMLReader) -> Void
  /// The key, or those of its table, with their values in a structure.
  let items: (Root, ConfigurationItem.Listing) -> [ConfigurationItem]

  private init(
    _ name: String, inner: [String], read: @escaping (inout Root, ConfigurationValue, ConfigurationPath, TOMLReader) -> Void,
    items: @escaping (Root, ConfigurationItem.Listing) -> [ConfigurationItem]
  ) {
    self.name = name
    innerKeys = inner
    keys = inner.isEmpty ? [name] : inner.map { "\(name).\($0)" }
    self.read = read
    self.items = items
  }

  /// A key that is read and written in its own way.
  ///
  /// - Parameters:
  ///   - type: What a value is, in a few words.
  ///   - about: What the key means: one or more sentences.
  ///   - value: Returns the value as the file has it; nil if there is none.
  init(
    _ name: String, type: String, about: String, value: @escaping (Root) -> String?,
    read: @escaping (inout Root, ConfigurationValue, ConfigurationPath, TOMLReader) -> Void
  ) {
    self.init(name, inner: [], read: read) { root, _ in [ConfigurationItem(name, type: type, about: about, value: value(root))] }
  }

  /// If the value has a problem, the default remains.
  init<Value>(_ name: String, _ place: WritableKeyPath<Root, Value>, _ converter: TOMLConverter<Value>, about: String) {
    self.init(name, inner: []) { root, value, path, reader in
      if let converted = converter.convert(value, path, reader) { root[keyPath: place] = converted }
    } items: { root, _ in
      let value = root[keyPath: place]
      return [
        ConfigurationItem(
          name, type: converter.type, about: about, value: converter.text(value), isSecret: converter.isSecret(value))
      ]
    }
  }

  /// A missing key means nil.
  init<Value>(_ name: String, optional place: WritableKeyPath<Root, Value?>, _ converter: TOMLConverter<Value>, about: String) {
    self.init(name, inner: []) { root, value, path, reader in
      if let converted = converter.convert(value, path, reader) { root[keyPath: place] = converted }
    } items: { root, _ in
      let value = root[keyPath: place]
      return [
        ConfigurationItem(
          name, type: converter.type, about: about, value: value.map(converter.text), isSecret: value.map(converter.isSecret) ?? false)
      ]
    }
  }

  init<Value>(_ name: String, _ place: WritableKeyPath<Root, Value>, table fields: [TOMLField<Value>], about: String) {
    self.init(name, inner: fields.flatMap(\.keys)) { root, value, path, reader in
      guard let table = reader.table(value, at: path) else { return }
      reader.read(table, fields, into: &root[keyPath: place], at: path)
    } items: { root, listing in
      Self.heading(name, ConfigurationItem.table, about, listing)
        + fields.flatMap { $0.items(root[keyPath: place], listing) }.map { $0.within(name) }
    }
  }

  /// A list of tables, some of whose keys are required.
  init<Value>(
    _ name: String, _ place: WritableKeyPath<Root, [Value]>, tables fields: [TOMLField<Value>], required: [String], about: String,
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
    } items: { root, listing in
      let inner: [ConfigurationItem] =
        switch listing {
        case .reference: fields.flatMap { $0.items(make(), listing) }
        case .values:
          root[keyPath: place].enumerated().flatMap { index, element in
            fields.flatMap { $0.items(element, listing) }.map { $0.withinElement(index) }
          }
        }
      return Self.heading(name, ConfigurationItem.tables, about, listing) + inner.map { $0.within(name) }
    }
  }

  /// Tables that the operator names.
  ///
  /// - Parameters:
  ///   - tables: Returns the tables by their names.
  ///   - make: Returns an empty table, for the defaults.
  init<Table>(
    _ name: String, named fields: [TOMLField<Table>], about: String, tables: @escaping (Root) -> [String: Table],
    make: @escaping () -> Table, read: @escaping (inout Root, ConfigurationValue, ConfigurationPath, TOMLReader) -> Void
  ) {
    self.init(name, inner: fields.flatMap(\.keys).map { "*.\($0)" }, read: read) { root, listing in
      let inner: [ConfigurationItem] =
        switch listing {
        case .reference: fields.flatMap { $0.items(make(), listing) }.map { $0.withinNamed("*") }
        case .values:
          tables(root).sorted { $0.key < $1.key }.flatMap { chosen, table in
            fields.flatMap { $0.items(table, listing) }.map { $0.withinNamed(chosen) }
          }
        }
      return Self.heading(name, ConfigurationItem.tables, about, listing) + inner.map { $0.within(name) }
    }
  }

  /// The field as one of a structure that has this one's structure as a part.
  func part<Whole>(_ place: WritableKeyPath<Whole, Root>) -> TOMLField<Whole> {
    TOMLField<Whole>(name, inner: innerKeys) { [read] whole, value, path, reader in
      read(&whole[keyPath: place], value, path, reader)
    } items: { [items] whole, listing in
      items(whole[keyPath: place], listing)
    }
  }

  private static func heading(
    _ name: String, _ type: String, _ about: String, _ listing: ConfigurationItem.Listing
  ) -> [ConfigurationItem] {
    listing == .reference ? [ConfigurationItem(name, type: type, about: about, value: nil)] : []
  }
}
