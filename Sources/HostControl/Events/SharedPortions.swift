import DequeModule
import NIOCore

/// The newest portions of events as text: many readers are at the same place, and get the same bytes.
///
/// A reader that takes a portion goes on at its end, so readers that keep up stay together.
struct SharedPortions {
  /// Bytes of all portions: about the text of what the ring holds. What readers that are behind have not been sent is then shared too.
  private static let mostBytes = 4 << 20

  private var portions: Deque<(range: Range<UInt64>, text: ByteBuffer)> = []
  private var bytes = 0

  /// The portion that begins with this event.
  func beginning(at number: UInt64) -> (end: UInt64, text: ByteBuffer)? {
    portions.index(of: number, by: \.range.lowerBound).map { (portions[$0].range.upperBound, portions[$0].text) }
  }

  /// Where the portion ends in which this event is. A reader that is there gets the rest of it, and so comes to the place of others.
  func end(around number: UInt64) -> UInt64? {
    portions.first { $0.range.upperBound > number }.flatMap { $0.range.contains(number) ? $0.range.upperBound : nil }
  }

  /// Adds a portion behind all others; does nothing with one that is older.
  mutating func add(_ text: ByteBuffer, of range: Range<UInt64>) {
    guard text.readableBytes <= Self.mostBytes, portions.last.map({ $0.range.upperBound <= range.lowerBound }) ?? true else { return }
    portions.append((range, text))
    bytes += text.readableBytes
    while bytes > Self.mostBytes, let oldest = portions.popFirst() { bytes -= oldest.text.readableBytes }
  }
}
