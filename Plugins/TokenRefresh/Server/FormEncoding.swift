import StrictText

/// `application/x-www-form-urlencoded`, as RFC 6749 appendix B wants it: UTF-8, a space is `+`.
enum FormEncoding {
  /// One name or value.
  ///
  /// - Parameter space: What a space becomes. In Basic credentials, where some servers undo percent-encoding only, it is `%20`, which every
  ///   server reads.
  static func encode(_ text: String, space: String = "+") -> String {
    PercentEncoding.encode(text, keeping: "*-._ ").split(separator: " ", omittingEmptySubsequences: false).joined(separator: space)
  }

  static func body(_ fields: [(name: String, value: String)]) -> String {
    fields.map { encode($0.name) + "=" + encode($0.value) }.joined(separator: "&")
  }
}
