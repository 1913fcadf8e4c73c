/// How an iteration finds its place in a sequence that a later run creates again.
public struct ElementIdentity<Element>: Sendable {
  let makeTracker: @Sendable () -> any ElementTracker<Element>

  /// By position: for a sequence that stays the same while the request lives.
  ///
  /// - Parameter version: The version of the sequence's source, such as an entity tag or a modification time. If it differs from the
  ///   checkpoint's, the iteration starts over.
  public static func position(version: String? = nil) -> Self {
    Self { PositionTracker(version: version) }
  }

  /// By a strictly increasing key, such as a name in a sorted list or a row number: for a sequence that can change between runs.
  ///
  /// The next run continues with the first element whose key is above the last completed one. Removed elements do no harm; elements
  /// inserted before that place are left to the next request.
  public static func key<Key: Comparable & Codable & Sendable>(_ key: @escaping @Sendable (Element) -> Key) -> Self {
    Self { KeyTracker(key: key) }
  }
}
