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
