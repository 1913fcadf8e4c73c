/// A `Content-Range` of bytes (RFC 9110 §14.4).
public enum ContentRange: Sendable, Equatable {
  /// The bytes from `first` to `last`; `total` is the size of the whole content, nil if the server does not know it.
  case part(first: Int64, last: Int64, total: Int64?)
  /// No range was possible; the size of the whole content.
  case unsatisfied(total: Int64)

  /// - Returns: nil for any text that is not exactly of that form, or whose numbers contradict each other.
  public init?(_ text: String) {
    let words = text.split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
    let halves = words[1].split(separator: "/", omittingEmptySubsequences: false)
    guard halves.count == 2 else { return nil }
    let total = HeaderNumber.read(halves[1])
    if halves[0] == "*" {
      guard let total else { return nil }
      self = .unsatisfied(total: total)
      return
    }
    let ends = halves[0].split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2, let first = HeaderNumber.read(ends[0]), let last = HeaderNumber.read(ends[1]), first <= last, last < .max,
      total != nil || halves[1] == "*", total.map({ last < $0 }) ?? true
    else { return nil }
    self = .part(first: first, last: last, total: total)
  }
}
