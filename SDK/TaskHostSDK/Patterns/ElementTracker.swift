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
