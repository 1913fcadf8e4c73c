import StrictText

/// Converts a value of the file for the configuration, or reports a problem and returns nil; and back.
struct TOMLConverter<Value> {
  /// What a value is, in a few words: `duration, 1s to 366d`.
  let type: String
  /// A value as the file has it.
  let text: (Value) -> String
  /// Whether a value may hold a secret.
  let isSecret: (Value) -> Bool
  let convert: (ConfigurationValue, ConfigurationPath, TOMLReader) -> Value?

  init(
    _ type: String, text: @escaping (Value) -> String, isSecret: @escaping (Value) -> Bool = { _ in false },
    convert: @escaping (ConfigurationValue, ConfigurationPath, TOMLReader) -> Value?
  ) {
    (self.type, self.text, self.isSecret, self.convert) = (type, text, isSecret, convert)
  }

  /// A converter of strings. The body returns the value, or throws the text's problem.
  ///
  /// - Parameters:
  ///   - expected: What a value is, with an article.
  ///   - type: The same in fewer words; nil: `expected` without its article.
  ///   - written: Returns the string that is read as a value.
  static func text(
    _ expected: String, type: String? = nil, isSecret: @escaping (Value) -> Bool = { _ in false },
    written: @escaping (Value) -> String = { "\($0)" }, _ body: @escaping (String, TOMLReader) throws(TextProblem) -> Value
  ) -> Self {
    Self(type ?? withoutArticle(expected), text: { TOMLText.quoted(written($0)) }, isSecret: isSecret) { value, path, reader in
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

  private static func withoutArticle(_ text: String) -> String {
    for article in ["a ", "an ", "the "] where text.hasPrefix(article) { return String(text.dropFirst(article.count)) }
    return text
  }

  /// Reports every bad element.
  static func list<Element>(_ element: TOMLConverter<Element>) -> Self where Value == [Element] {
    Self(
      "list, each: \(element.type)", text: { TOMLText.list($0.map(element.text)) }, isSecret: { $0.contains(where: element.isSecret) }
    ) { value, path, reader in
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
    Self(wrapped.type, text: { $0.map(wrapped.text) ?? "\"\"" }, isSecret: { $0.map(wrapped.isSecret) ?? false }) { value, path, reader in
      if case .string("") = value { return .some(nil) }
      return wrapped.convert(value, path, reader).map { .some($0) }
    }
  }

  /// One of an enumeration's names.
  static func choice() -> Self where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
    choice(among: Value.allCases.map(\.rawValue), name: \.rawValue) { Value(rawValue: $0) }
  }

  /// One of `names`, converted by `value`.
  static func choice(among names: [String], name: @escaping (Value) -> String, _ value: @escaping (String) -> Value?) -> Self {
    let list = names.map { "\"\($0)\"" }.joined(separator: ", ")
    return .text("one of \(list)", written: name) { text, _ throws(TextProblem) in
      if let value = value(text) { return value }
      let hint = NearestName.nearest(to: text, among: names).map { "did you mean \"\($0)\"?" } ?? "one of \(list)"
      throw TextProblem("unknown value \"\(text)\" (\(hint))")
    }
  }
}
