/// `application/x-www-form-urlencoded`, as RFC 6749 appendix B wants it: UTF-8, a space is `+`.
enum FormEncoding {
  /// One name or value.
  ///
  /// - Parameter space: What a space becomes. In Basic credentials, where some servers undo percent-encoding only, it is `%20`, which every
  ///   server reads.
  static func encode(_ text: String, space: String = "+") -> String {
    var encoded = ""
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
        UInt8(ascii: "*"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
        encoded.unicodeScalars.append(Unicode.Scalar(byte))
      case UInt8(ascii: " "):
        encoded += space
      default:
        encoded += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
      }
    }
    return encoded
  }

  /// A body of `name=value` pairs, in this order.
  static func body(_ fields: [(name: String, value: String)]) -> String {
    fields.map { encode($0.name) + "=" + encode($0.value) }.joined(separator: "&")
  }
}
