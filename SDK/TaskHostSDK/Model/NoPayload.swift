/// The payload of a plugin that takes none: decodes from anything, also from empty bytes or bytes that are not JSON.
public struct NoPayload: Decodable, Sendable {
  /// The only value.
  public init() {}

  /// Reads nothing.
  public init(from decoder: any Decoder) {}
}

/// The settings of a plugin that takes none: decodes from anything, also from empty bytes or bytes that are not JSON.
public struct NoSettings: Decodable, Sendable {
  /// The only value.
  public init() {}

  /// Reads nothing.
  public init(from decoder: any Decoder) {}
}
