import HTTPTransfer

/// What a server's answer means for a transfer.
enum Answers {
  /// Statuses after which another attempt may succeed (RFC 9110: request timeout, too many requests; RFC 8470: too early).
  static func isTemporary(_ status: Int) -> Bool {
    [408, 425, 429].contains(status) || (500...599).contains(status) && status != 501 && status != 505
  }

  /// The delay that `Retry-After` asks for in seconds, at most a day; nil without one. (A date is treated as none.)
  static func retryAfter(_ head: TransferHead) -> Duration? {
    guard let seconds = head.values("retry-after").first.flatMap({ Int($0) }), seconds >= 0 else { return nil }
    return .seconds(min(seconds, 86_400))
  }

  /// The validator for `If-Range`: a strong entity tag, else nil.
  ///
  /// - Source: RFC 9110 §13.1.5: a weak validator must not be used.
  static func validator(_ head: TransferHead) -> String? {
    guard let tag = head.values("etag").first, tag.hasPrefix("\""), tag.utf8.count < 1000 else {
      // A date is strong only if the content was not changed in the second of the answer: too weak for a promise.
      return nil
    }
    return tag
  }

  /// The first byte of a 206, and the whole size if the server knows it.
  static func contentRange(_ head: TransferHead) -> (first: Int64, total: Int64?)? {
    guard let text = head.values("content-range").first, text.lowercased().hasPrefix("bytes ") else { return nil }
    let parts = text.dropFirst(6).split(separator: "/", maxSplits: 1)
    guard parts.count == 2, let first = parts[0].split(separator: "-", maxSplits: 1).first.flatMap({ Int64($0) }), first >= 0 else {
      return nil
    }
    return (first, Int64(parts[1]))
  }

  /// The whole size that a 416 names.
  static func unsatisfiedSize(_ head: TransferHead) -> Int64? {
    guard let text = head.values("content-range").first, text.lowercased().hasPrefix("bytes */") else { return nil }
    return Int64(text.dropFirst(8))
  }

  static func length(_ head: TransferHead) -> Int64? { head.values("content-length").first.flatMap { Int64($0) } }
}
