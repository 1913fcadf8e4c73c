import StrictText

extension JSONSchema {
  /// Writes the members of the schema's object; the caller begins and ends it.
  func write(to writer: inout JSONWriter) {
    switch self {
    case .any: break
    case .boolean: writer.member("type", "boolean")
    case .integer(let range):
      writer.member("type", "integer")
      writer.member("minimum", range.flatMap { $0.lowerBound == .min ? nil : $0.lowerBound })
      writer.member("maximum", range.flatMap { $0.upperBound == .max ? nil : $0.upperBound })
    case .text(let rule):
      writer.member("type", "string")
      if !rule.names.isEmpty { writer.member("enum", rule.names) }
      writer.member("minLength", rule.lengths?.lowerBound)
      writer.member("maxLength", rule.lengths?.upperBound)
      writer.member("format", rule.format)
      writer.member("pattern", rule.pattern)
    case .array(let element, let count):
      writer.member("type", "array")
      writer.object("items") { element.write(to: &$0) }
      writer.member("minItems", count?.lowerBound)
      writer.member("maxItems", count?.upperBound)
    case .members(let members): Self.write(members, to: &writer)
    case .map(let value, let count):
      writer.member("type", "object")
      writer.object("additionalProperties") { value.write(to: &$0) }
      writer.member("minProperties", count?.lowerBound)
      writer.member("maxProperties", count?.upperBound)
    case .choice(let schemas): writer.array("anyOf", schemas) { $1.write(to: &$0) }
    case .orNull(let schema): writer.array("anyOf", [schema, nil]) { $1?.write(to: &$0) ?? $0.member("type", "null") }
    case .named(let name): writer.member("$ref", "#/components/schemas/\(name.rawValue)")
    case .described(let schema, let text):
      schema.write(to: &writer)
      writer.member("description", text)
    }
  }

  private static func write(_ members: [MemberSchema], to writer: inout JSONWriter) {
    writer.member("type", "object")
    writer.object("properties") { writer in
      for member in members { writer.object(member.name) { member.schema.write(to: &$0) } }
    }
    let required = members.filter(\.isRequired).map(\.name)
    if !required.isEmpty { writer.member("required", required) }
  }
}
