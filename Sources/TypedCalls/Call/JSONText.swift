import StrictText

/// The JSON form in which a returned value is recorded.
///
/// - Integers: their exact digits. `bool`: `true` or `false`. `void`, and a `str` that is NULL: `null`. `result`: the number.
/// - `f32`, `f64`: the shortest decimal that reads back as the same value (`0.1`, `1.0`, `1e+100`); values that no JSON number has become
///   the strings `"NaN"`, `"Infinity"`, `"-Infinity"`.
/// - `str`: a string. `"`, `\` and control characters (U+0000 … U+001F, U+007F … U+009F) are escaped, invalid UTF-8 becomes U+FFFD.
enum JSONText {
  static func number<Number: BinaryFloatingPoint & LosslessStringConvertible>(_ number: Number) -> String {
    guard number.isFinite else { return number.isNaN ? "\"NaN\"" : number < 0 ? "\"-Infinity\"" : "\"Infinity\"" }
    return number.description
  }

  /// A string of at most `limit` bytes, including its quotes. `isCut` says whether only the beginning of `bytes` fits.
  static func string(_ bytes: some Sequence<UInt8> & Collection, limit: Int) -> (text: [UInt8], isCut: Bool) {
    var text = [UInt8(ascii: "\"")]
    text.reserveCapacity(min(limit, bytes.count + 2))
    var isCut = false
    for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
      let piece = scalar.escapedForJSON.utf8
      guard text.count + piece.count < limit else {
        isCut = true
        break
      }
      text.append(contentsOf: piece)
    }
    text.append(UInt8(ascii: "\""))
    return (text, isCut)
  }
}
