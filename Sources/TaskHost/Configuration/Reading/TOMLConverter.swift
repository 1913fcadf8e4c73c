import StrictText

/// Converts a value of the file for the configuration, or reports a problem and returns nil.
struct TOMLConverter<Value> {
  let convert: (ConfigurationValue, ConfigurationPath, TOMLReader) -> Value?

  init(convert: @escaping (ConfigurationValue, ConfigurationPath, TOMLReader) -> Value?) { self.convert = convert }

  /// A converter of strings. The body returns the value, or throws the text's problem.
  static func text(_ expected: String, _ body: @escaping (String, TOMLReader) throws(TextProblem) -> Value) -> Self {
    Self { value, path, reader in
      guard case .string(let text) = value else {
        reader.reportType(value, at: path, expected: expected)
        return nil
      }
      do throws(TextProblem) {
        return try body(text, reader)
      } catch {
        reader.report(path, "\(path): \(error.message)")
        return nil
      }
    }
  }

  /// Reports every bad element.
  static func list<Element>(_ element: TOMLConverter<Element>) -> Self where Value == [Element] {
    Self { value, path, reader in
      guard case .array(let values) = value else {
        reader.reportType(value, at: path, expected: "a list")
        return nil
      }
      let converted = values.enumerated().map { element.convert($1, path.appending($0), reader) }
      let sound = converted.compactMap { $0 }
      return sound.count == values.count ? sound : nil
    }
  }

  /// Converts an empty string to nil.
  static func emptyIsNil<Wrapped>(_ wrapped: TOMLConverter<Wrapped>) -> Self where Value == Wrapped? {
    Self { value, path, reader in
      if case .string("") = value { return .some(nil) }
      return wrapped.convert(value, path, reader).map { .some($0) }
    }
  }

  /// One of an enumeration's names.
  static func choice() -> Self where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
    choice(among: Value.allCases.map(\.rawValue)) { Value(rawValue: $0) }
  }

  /// One of `names`, converted by `value`.
  static func choice(among names: [String], _ value: @escaping (String) -> Value?) -> Self {
    let list = names.map { "\"\($0)\"" }.joined(separator: ", ")
    return .text("one of \(list)") { text, _ throws(TextProblem) in
      if let value = value(text) { return value }
      let hint = NearestName.nearest(to: text, among: names).map { "did you mean \"\($0)\"?" } ?? "one of \(list)"
      throw TextProblem("unknown value \"\(text)\" (\(hint))")
    }
  }
}
