import TaskModel

/// What a JSON value looks like: the part of JSON Schema 2020-12 that the control API needs.
///
/// - Source: OpenAPI 3.1, 4.8.24.
indirect enum JSONSchema: Sendable {
  /// Any value.
  case any
  case boolean
  /// A whole number.
  case integer(ClosedRange<Int64>? = nil)
  case text(TextRule = TextRule())
  case array(JSONSchema, count: ClosedRange<Int>? = nil)
  /// An object with these members and no others.
  case members([MemberSchema])
  /// An object whose members have any names.
  case map(of: JSONSchema, count: ClosedRange<Int>? = nil)
  /// One of these.
  case choice([JSONSchema])
  /// A value or null.
  case orNull(JSONSchema)
  case named(NamedSchema)
  case described(JSONSchema, String)

  /// What a text looks like. Lengths count characters, where the host counts bytes: a schema never refuses what the host takes.
  struct TextRule: Sendable {
    var names: [String] = []
    var lengths: ClosedRange<Int>?
    var format: String?
    var pattern: String?
  }

  static let string = JSONSchema.text()
  /// A count or an amount.
  static let count = JSONSchema.integer(0...Int64.max)
  static let milliseconds = JSONSchema.integer()
  static let moment = JSONSchema.text(TextRule(format: "date-time"))
  static let bytes = JSONSchema.text(
    TextRule(pattern: "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"))
  static let texts = JSONSchema.array(.string)
  /// The id of a request, a run or an assertion.
  static let id = JSONSchema.text(
    TextRule(
      format: "uuid", pattern: "^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-7[0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}$"))
  /// What `next` says.
  static let cursor = JSONSchema.described(.string, "What to send as after for the next page; absent on the last one.")
  static let identifier = JSONSchema.text(TextRule(lengths: 1...128, pattern: "^[A-Za-z0-9][A-Za-z0-9._-]*$"))

  /// One of these texts.
  static func names(_ names: [String]) -> JSONSchema { .text(TextRule(names: names)) }

  /// The text of one of an enumeration's cases.
  static func names<Name: RawRepresentable<String> & CaseIterable>(of type: Name.Type) -> JSONSchema {
    .names(type.allCases.map(\.rawValue))
  }

  static func text(_ lengths: ClosedRange<Int>) -> JSONSchema { .text(TextRule(lengths: lengths)) }

  /// An object with the members of these groups.
  static func object(_ groups: [MemberSchema]...) -> JSONSchema { .members(groups.flatMap(\.self)) }
}

/// A member of an object.
struct MemberSchema: Sendable {
  let name: String
  let schema: JSONSchema
  let isRequired: Bool
}

extension [MemberSchema] {
  /// A member that is always there.
  static func must(_ name: String, _ schema: JSONSchema) -> Self { [MemberSchema(name: name, schema: schema, isRequired: true)] }

  /// A member that may be absent.
  static func may(_ name: String, _ schema: JSONSchema) -> Self { [MemberSchema(name: name, schema: schema, isRequired: false)] }

  /// Members that are always there, with the same schema.
  static func must(_ names: [String], _ schema: JSONSchema) -> Self {
    names.map { MemberSchema(name: $0, schema: schema, isRequired: true) }
  }

  /// Members that may be absent, with the same schema.
  static func may(_ names: [String], _ schema: JSONSchema) -> Self {
    names.map { MemberSchema(name: $0, schema: schema, isRequired: false) }
  }

  /// Fields of a request that may be absent.
  static func may(_ fields: [RequestField]) -> Self {
    fields.map { MemberSchema(name: $0.rawValue, schema: $0.schema, isRequired: false) }
  }

  /// The two members of a moment.
  static func moment(_ name: String, isRequired: Bool = false) -> Self {
    [
      MemberSchema(name: name, schema: .moment, isRequired: isRequired),
      MemberSchema(name: name + "_unix_ms", schema: .integer(), isRequired: isRequired),
    ]
  }

  /// The two members of a moment that may be unknown, or never come.
  static func momentOrNull(_ name: String, isRequired: Bool = true) -> Self {
    [
      MemberSchema(name: name, schema: .orNull(.moment), isRequired: isRequired),
      MemberSchema(name: name + "_unix_ms", schema: .orNull(.integer()), isRequired: isRequired),
    ]
  }

  /// Bytes of clients and plugins: as they are if they are JSON, else as base64.
  static func bytes(_ name: String) -> Self { .may(name, .any) + .may(name + "_base64", .bytes) }
}
