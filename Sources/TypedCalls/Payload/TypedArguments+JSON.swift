import StrictText

extension TypedArguments {
  /// Reads a payload: a JSON object with the arguments by name. An empty payload means `{}`.
  ///
  /// Reading is strict: whole numbers are exact, and unknown names, duplicate names and missing required arguments are errors. `null`
  /// stands for an omitted optional argument. A number for `f32` or `f64` is rounded to the nearest value, which must be finite.
  ///
  /// - Throws: ``TypedPayloadError``, naming the argument.
  public init(payload: [UInt8], of signature: TypedSignature) throws(TypedPayloadError) {
    let members = signature.members
    var values: [TypedValue?] = Array(repeating: nil, count: members.count)
    do {
      if !payload.isEmpty { try Self.read(payload, members: members, into: &values) }
    } catch let error as TypedPayloadError {
      throw error
    } catch {
      throw TypedPayloadError(argument: nil, flaw: "the payload is not JSON: \(error)")
    }
    self.values = try Self.complete(values, members: members)
  }

  private static func read(_ payload: [UInt8], members: [TypedParameter], into values: inout [TypedValue?]) throws {
    var scanner = JSONScanner(payload)
    scanner.skipBlanks()
    guard scanner.take("{") else {
      let value = try scanner.payloadValue()
      throw TypedPayloadError(
        argument: nil, flaw: "the payload must be a JSON object with the arguments by name, like {\"name\": value}: it is \(value.kind)")
    }
    scanner.skipBlanks()
    var isFirst = true
    while isFirst || scanner.take(",") {
      scanner.skipBlanks()
      if isFirst, scanner.next == UInt8(ascii: "}") { break }
      isFirst = false
      guard scanner.next == UInt8(ascii: "\"") else { throw scanner.failure("a member's name in double quotes is expected") }
      let index = try memberIndex(of: String(decoding: try scanner.string(), as: UTF8.self), members: members)
      guard values[index] == nil else { throw TypedPayloadError(argument: members[index].name, flaw: "it appears twice: give it once") }
      scanner.skipBlanks()
      guard scanner.take(":") else { throw scanner.failure("':' is expected after a member's name") }
      scanner.skipBlanks()
      values[index] = try TypedValue(scanner.payloadValue(), for: members[index])
      scanner.skipBlanks()
    }
    guard scanner.take("}") else {
      throw scanner.failure(scanner.next == nil ? "the text ends inside the object" : "',' or '}' is expected after a member")
    }
    scanner.skipBlanks()
    guard scanner.next == nil else { throw scanner.failure("there is more text after the object") }
  }

  private static func memberIndex(of name: String, members: [TypedParameter]) throws(TypedPayloadError) -> Int {
    if let index = members.firstIndex(where: { $0.name == name }) { return index }
    let shown = name.unicodeScalars.prefix(40).map(\.escapedForJSON).joined()
    let hint = NearestName.hint(for: name, among: members.map(\.name), quote: "", slips: 1)
    throw TypedPayloadError(
      argument: shown, flaw: "the handler takes \(members.isEmpty ? "no arguments" : "no argument of that name")\(hint)")
  }

  private static func complete(_ values: [TypedValue?], members: [TypedParameter]) throws(TypedPayloadError) -> [TypedValue] {
    var complete: [TypedValue] = []
    for (value, member) in zip(values, members) {
      guard let value = value ?? (member.isOptional ? .absent : nil) else {
        throw TypedPayloadError(
          argument: member.name, flaw: "it is missing and not optional: give \(member.type.wanted) (\(member.type.rawValue))")
      }
      complete.append(value)
    }
    return complete
  }
}
