/// Tracks the completed elements of one pass over a sequence. Each element is passed to ``isDone(_:)`` once, in the sequence's order, and
/// to ``complete(_:)`` after its work.
protocol ElementTracker<Element> {
  associatedtype Element

  /// Continues from the place of an earlier run; ignores a place that does not fit this sequence.
  mutating func resume(_ place: IterationPlace)

  /// Whether an earlier run has done this element.
  ///
  /// - Throws: ``TaskFailure`` if the sequence is not in order.
  mutating func isDone(_ element: Element) throws -> Bool

  mutating func complete(_ element: Element)

  /// Records the place after the last completed element.
  func record(_ place: inout IterationPlace) throws
}

/// The place of an iteration in the request's checkpoint.
struct IterationPlace: Codable {
  var iteration: String
  /// By position: the number of completed elements.
  var position: Int?
  /// By position: the version of the sequence's source.
  var version: String?
  /// By key: the key of the last completed element, as JSON.
  var key: String?
}

/// Counts elements.
struct PositionTracker<Element>: ElementTracker {
  let version: String?
  private var done = 0
  private var seen = 0

  init(version: String?) {
    self.version = version
  }

  mutating func resume(_ place: IterationPlace) {
    guard let position = place.position, position >= 0, place.version == version else { return }
    done = position
  }

  mutating func isDone(_ element: Element) -> Bool {
    seen += 1
    return seen <= done
  }

  mutating func complete(_ element: Element) { done = seen }

  func record(_ place: inout IterationPlace) {
    place.position = done
    place.version = version
  }
}

/// Compares keys.
struct KeyTracker<Element, Key: Comparable & Codable & Sendable>: ElementTracker {
  let key: @Sendable (Element) -> Key
  /// The key of the last completed element, in this run or an earlier one.
  private var done: Key?
  /// The key of the previous element.
  private var previous: Key?

  init(key: @escaping @Sendable (Element) -> Key) {
    self.key = key
  }

  mutating func resume(_ place: IterationPlace) {
    guard let text = place.key else { return }
    done = try? JSON.decode(Key.self, from: Array(text.utf8))
  }

  mutating func isDone(_ element: Element) throws -> Bool {
    let key = key(element)
    if let previous, !(previous < key) {
      throw TaskFailure.permanent("the sequence is not in order: \(key) comes after \(previous); sort it by its key, without duplicates")
    }
    previous = key
    guard let done else { return false }
    return key <= done
  }

  mutating func complete(_ element: Element) { done = previous }

  func record(_ place: inout IterationPlace) throws {
    guard let done else { return }
    place.key = String(decoding: try JSON.encode(done), as: UTF8.self)
  }
}

/// How an iteration finds its place in a sequence that a later run creates again.
public struct ElementIdentity<Element>: Sendable {
  let makeTracker: @Sendable () -> any ElementTracker<Element>

  /// Finds the place by position, in a sequence that stays the same while the request lives.
  ///
  /// - Parameter version: The version of the sequence's source, such as an entity tag or a modification time. If it differs from the
  ///   checkpoint's, the iteration starts over.
  public static func position(version: String? = nil) -> Self {
    Self { PositionTracker(version: version) }
  }

  /// Finds the place by a strictly increasing key, such as a name in a sorted list or a row number, in a sequence that can change between
  /// runs.
  ///
  /// The next run continues with the first element whose key is above the last completed one. Elements may be removed; elements inserted
  /// before that place are left to the next request.
  public static func key<Key: Comparable & Codable & Sendable>(_ key: @escaping @Sendable (Element) -> Key) -> Self {
    Self { KeyTracker(key: key) }
  }
}
