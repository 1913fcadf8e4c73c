/// A JSON value that was read, with the place of its text.
public struct JSONNode: Sendable, Hashable {
  /// What the value is.
  public enum Value: Sendable, Hashable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number; nil when it has a fraction or an exponent, or does not fit: its text is still at `range`.
    case number(Int64?)
    /// A string, escapes resolved.
    case string(String)
    /// An array.
    case array([JSONNode])
    /// An object, members in the order of the text.
    case object([JSONMember])
    /// Checked but not read, see ``JSONLimits/opaqueMembers``.
    case opaque
  }

  /// What the value is.
  public var value: Value
  /// The bytes of the value in the text, blanks around it left out.
  public var range: Range<Int>

  /// The member with that name, if this is an object that has one.
  public subscript(name: String) -> JSONNode? {
    guard case .object(let members) = value else { return nil }
    return members.first { $0.name == name }?.node
  }

  /// The string, if it is one.
  public var string: String? { if case .string(let text) = value { text } else { nil } }
  /// The number, if it is a whole one that fits.
  public var integer: Int64? { if case .number(let number) = value { number } else { nil } }
  /// The truth value, if it is one.
  public var bool: Bool? { if case .bool(let truth) = value { truth } else { nil } }
  /// The elements, if it is an array.
  public var array: [JSONNode]? { if case .array(let elements) = value { elements } else { nil } }

  /// What it is, in an error's words: "a string", …
  public var kind: String {
    switch value {
    case .null: "null"
    case .bool: "a truth value"
    case .number(.some): "a number"
    case .number(.none): "a number with a fraction or too many digits"
    case .string: "a string"
    case .array: "an array"
    case .object: "an object"
    case .opaque: "a value"
    }
  }
}

/// A member of a JSON object.
public struct JSONMember: Sendable, Hashable {
  /// Its name, escapes resolved.
  public var name: String
  /// Its value.
  public var node: JSONNode
}
