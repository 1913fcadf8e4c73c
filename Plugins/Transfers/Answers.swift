import HTTPTransfer

/// What a server's answer means for a transfer.
enum Answers {
  /// Statuses after which another attempt may succeed (RFC 9110: request timeout, too many requests; RFC 8470: too early).
  static func isTemporary(_ status: Int) -> Bool {
    [408, 425, 429].contains(status) || (500...599).contains(status) && status != 501 && status != 505
  }

  /// The validator for `If-Range`: a strong entity tag, else nil.
  ///
  /// - Source: RFC 9110 §13.1.5: a weak validator must not be used.
  static func validator(_ head: TransferHead) -> String? {
    // Without a tag there is at most a date, which is strong only if the content was not changed in the second of the answer: too weak for
    // a promise. A part in a coding is none of the content.
    guard let tag = head.values("etag").first, tag.hasPrefix("\""), tag.utf8.count < 1000, !isCoded(head) else { return nil }
    return tag
  }

  /// Whether the body is in a coding, although none was asked for.
  static func isCoded(_ head: TransferHead) -> Bool {
    head.values("content-encoding").contains { !$0.isEmpty && $0.lowercased() != "identity" }
  }

  /// Whether the body is made of several ranges.
  static func isMultipart(_ head: TransferHead) -> Bool {
    head.values("content-type").contains { $0.lowercased().hasPrefix("multipart/byteranges") }
  }
}
