/// The names of files that `run-parts` runs, and that cron reads in `/etc/cron.d`.
public enum RunPartsName {
  /// Why a file of that name is left alone; nil if it is not.
  ///
  /// - Parameter isLSB: Whether cron runs with `-l`, which allows the names of the LSB too: dots between the parts of a domain's name.
  public static func flaw(of name: String, isLSB: Bool = false) -> String? {
    let bytes = Array(name.utf8)
    guard !bytes.isEmpty else { return "has no name" }
    if bytes[0] == UInt8(ascii: ".") { return "its name begins with a dot" }
    if bytes.allSatisfy({ Bytes.isAlphanumeric($0) || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-") }) { return nil }
    if isLSB, isLSBName(bytes) { return nil }
    let odd = name.unicodeScalars.first { !($0.isASCII && (Bytes.isAlphanumeric(UInt8($0.value)) || $0 == "_" || $0 == "-")) }
    return odd == "." ? "its name has a dot" : "its name has a character other than A-Z a-z 0-9 _ -"
  }

  /// `_vendor.example.org-name`, or a namespace of lower case letters, digits, dots and `-`; endings of dpkg never count.
  private static func isLSBName(_ bytes: [UInt8]) -> Bool {
    let name = Bytes.shown(bytes)
    guard ![".dpkg-old", ".dpkg-dist", ".dpkg-new", ".dpkg-tmp", ".dpkg-orig"].contains(where: { name.hasSuffix($0) }) else { return false }
    let plain = bytes.first == UInt8(ascii: "_") ? bytes[1...] : bytes[...]
    return plain.allSatisfy { Bytes.isDigit($0) || (0x61...0x7a).contains($0) || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-") }
      && plain.contains(UInt8(ascii: "."))
  }
}
