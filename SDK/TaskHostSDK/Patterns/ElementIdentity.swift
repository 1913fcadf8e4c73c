/// How an iteration finds its place again in a sequence that a later run makes anew.
public struct ElementIdentity<Element>: Sendable {
  let makeTracker: @Sendable () -> any ElementTracker<Element>

  /// By the number of elements before it: for a sequence that stays the same while the request lives.
  ///
  /// - Parameter version: What the sequence was made from, such as an entity tag or a modification time: where it differs from that of the
  ///   checkpoint, the iteration starts over.
  public static func position(version: String? = nil) -> Self {
    Self { PositionTracker(version: version) }
  }

  /// By a key that rises strictly from element to element, such as a name in a sorted list or a row's number: for a sequence that may
  /// change between runs.
  ///
  /// The next run goes on with the first element whose key is above the last one completed. What disappears meanwhile does no harm; what
  /// appears before that place is left to the next request.
  public static func key<Key: Comparable & Codable & Sendable>(_ key: @escaping @Sendable (Element) -> Key) -> Self {
    Self { KeyTracker(key: key) }
  }
}
