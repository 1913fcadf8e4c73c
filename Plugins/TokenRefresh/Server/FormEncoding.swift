import StrictText

/// `application/x-www-form-urlencoded` according to RFC 6749 appendix B: UTF-8, a space becomes `+`.
enum FormEncoding {
  /// Encodes one name or value.
  ///
  /// - Parameter space: The replacement for a space. In Basic credentials it is `%20`, which every server reads; some decode only
  ///   percent-encoding there.
  static func encode(_ text: String, space: String = "+") -> String {
    PercentEncoding.encode(text, keeping: "*-._ ").split(separator: " ", omittingEmptySubsequences: false).joined(separator: space)
  }

  static func body(_ fields: [(name: String, value: String)]) -> String {
    fields.map { encode($0.name) + "=" + encode($0.value) }.joined(separator: "&")
  }
}
