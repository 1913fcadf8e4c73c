/// Knows for one pass over a sequence which elements are done. Each element is shown to ``isDone(_:)`` once, in the sequence's order, and
/// to ``complete(_:)`` once its work is done.
protocol ElementTracker<Element> {
  associatedtype Element

  /// Goes on from where an earlier run was; one that does not fit this sequence is ignored.
  mutating func resume(_ place: IterationPlace)

  /// Whether an earlier run has done this element.
  ///
  /// - Throws: ``TaskFailure`` when the sequence breaks its promise.
  mutating func isDone(_ element: Element) throws -> Bool

  mutating func complete(_ element: Element)

  /// Writes down the place after the last element that was completed.
  func record(_ place: inout IterationPlace) throws
}
