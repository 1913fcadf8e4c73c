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
