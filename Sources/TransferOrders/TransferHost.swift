import Glibc
import StrictText

/// The host of a transfer's address, as written: a name, or an IP address. It says nothing of whether there is such a host.
struct TransferHost {
  private typealias Flaw = TransferAddress.Flaw

  /// The longest name, and the longest part of one between two dots.
  ///
  /// - Source: RFC 1035 §2.3.4, as text without the dot at the end.
  private static let (mostBytes, mostLabelBytes) = (253, 63)

  /// Checks a name, or an IPv4 address.
  ///
  /// Underscores are no part of host names (RFC 952), but names in DNS have them, and resolvers and libcurl take them.
  static func check(name bytes: [UInt8]) throws(TransferAddress.Flaw) {
    guard !bytes.isEmpty else { throw Flaw("has no host") }
    if bytes.contains(where: { $0 >= 0x80 }) { throw Flaw("has a host with characters outside of ASCII: write its name in DNS (xn--…)") }
    guard bytes.allSatisfy({ isLetterOrDigit($0) || $0 == dot || $0 == hyphen || $0 == underscore }) else {
      throw Flaw("has a host with other characters than letters, digits, dots, hyphens and underscores")
    }
    // The dot at the end of a full name is not part of it.
    let name = bytes.last == dot ? bytes.dropLast() : bytes[...]
    guard name.count <= mostBytes else { throw Flaw("has a host of \(name.count) characters: a host name has at most \(mostBytes)") }
    let labels = name.split(separator: dot, omittingEmptySubsequences: false)
    for label in labels {
      guard !label.isEmpty else { throw Flaw("has a host with nothing before a dot: remove one of the dots") }
      guard label.count <= mostLabelBytes else {
        throw Flaw("has a host with \(label.count) characters between two dots: a host name has at most \(mostLabelBytes)")
      }
      guard label.first != hyphen else { throw Flaw("has a host with a hyphen at the beginning or after a dot: no host is called so") }
    }
    if let last = labels.last, isNumber(last), !isAddress(name, AF_INET) {
      throw Flaw("has a host that ends in a number but is not an IPv4 address: write four numbers from 0 to 255, as in 192.0.2.1")
    }
  }

  /// Checks what stands between brackets: an IPv6 address, and `%25` with the name of an interface behind it, if it needs one.
  static func check(bracketed bytes: [UInt8]) throws(TransferAddress.Flaw) {
    let address = bytes.prefix { $0 != percent }
    let zone = bytes.dropFirst(address.count)
    guard isAddress(address, AF_INET6) else { throw Flaw("has no IPv6 address between its brackets, such as [2001:db8::1]") }
    guard !zone.isEmpty else { return }
    guard zone.starts(with: "%25".utf8), zone.count > 3,
      zone.dropFirst(3).allSatisfy({ isLetterOrDigit($0) || "-._~".utf8.contains($0) })
    else { throw Flaw("has something else than an interface behind its IPv6 address: write it as in [fe80::1%25eth0]") }
  }

  private static let (dot, hyphen, underscore, percent) = (UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "%"))

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    default: false
    }
  }

  /// Whether readers of addresses take a last label for a number: digits, or hexadecimal ones behind `0x`.
  private static func isNumber(_ label: ArraySlice<UInt8>) -> Bool {
    if label.allSatisfy({ (0x30...0x39).contains($0) }) { return true }
    return label.starts(with: "0x".utf8) || label.starts(with: "0X".utf8)
  }

  private static func isAddress(_ text: ArraySlice<UInt8>, _ family: Int32) -> Bool {
    var address = in6_addr()
    return inet_pton(family, String(decoding: text, as: UTF8.self), &address) == 1
  }
}
