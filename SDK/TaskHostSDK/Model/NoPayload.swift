/// The payload of a plugin that takes none. It decodes from anything, even empty bytes or invalid JSON.
public struct NoPayload: Decodable, Sendable {
  /// The only value.
  public init() {}

  /// Reads nothing.
  public init(from decoder: any Decoder) {}
}

/// The settings of a plugin that takes none. They decode from anything, even empty bytes or invalid JSON.
public struct NoSettings: Decodable, Sendable {
  /// The only value.
  public init() {}

  /// Reads nothing.
  public init(from decoder: any Decoder) {}
}
