/// Names an event to who reads the stream again later: which sequence of events it is in, and its place there.
///
/// A sequence begins with the host, and again where the host told nobody for a while; its number is drawn at random, so an id of an
/// earlier host is never taken for one of this.
struct EventID: Sendable, Hashable, CustomStringConvertible {
  let incarnation: UInt64
  let sequence: UInt64

  init(incarnation: UInt64, sequence: UInt64) {
    self.incarnation = incarnation
    self.sequence = sequence
  }

  /// Reads what ``description`` writes; nil for anything else.
  init?(_ text: String) {
    let halves = text.split(separator: "-", omittingEmptySubsequences: false)
    let isPlain = text.utf8.count <= 37 && !text.utf8.contains(UInt8(ascii: "+"))
    guard isPlain, halves.count == 2, halves[0].utf8.count == 16, let incarnation = UInt64(halves[0], radix: 16),
      let sequence = UInt64(halves[1])
    else { return nil }
    self.init(incarnation: incarnation, sequence: sequence)
  }

  /// `0f3c…-42`
  var description: String {
    let digits = String(incarnation, radix: 16)
    return String(repeating: "0", count: 16 - digits.utf8.count) + digits + "-\(sequence)"
  }
}
