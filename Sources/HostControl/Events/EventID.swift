/// The id of an event, with which a client resumes the stream: the event's sequence, and its number there.
///
/// Each host process starts a new sequence, and so does a time without readers. A sequence's number is random, so an id from an earlier
/// host process never matches.
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
