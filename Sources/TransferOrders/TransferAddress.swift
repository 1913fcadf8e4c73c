/// The address of a transfer, as far as it can be judged without asking: strict, so that no reader of URLs takes it for another.
package struct TransferAddress: Sendable, Equatable {
  /// The port, named or by the scheme.
  package let port: UInt16

  /// - Throws: What is wrong, as a clause after the name of the member.
  package init(_ text: String) throws(Flaw) {
    let bytes = Array(text.utf8)
    guard bytes.count <= 8192 else { throw Flaw("has more than 8192 bytes") }
    let lowered = text.prefix(8).lowercased()
    guard let preset: UInt16 = lowered.hasPrefix("https://") ? 443 : lowered.hasPrefix("http://") ? 80 : nil else {
      throw Flaw("must begin with https:// or http://")
    }
    guard !bytes.contains(where: { $0 <= 0x20 || $0 == 0x7F }) else {
      throw Flaw("has spaces or control characters: write them as %20 and so on")
    }
    let authority = bytes.dropFirst(preset == 443 ? 8 : 7).prefix { !"/?#".utf8.contains($0) }
    guard !authority.contains(UInt8(ascii: "@")) else { throw Flaw("has a user: send a header or a bearer_token_file instead") }
    let isBracketed = authority.first == UInt8(ascii: "[")
    let host = authority.prefix { $0 != (isBracketed ? UInt8(ascii: "]") : UInt8(ascii: ":")) }
    var rest = authority.dropFirst(host.count)
    if isBracketed {
      guard rest.first == UInt8(ascii: "]") else { throw Flaw("has no ] after its IPv6 address") }
      rest = rest.dropFirst()
      try TransferHost.check(bracketed: Array(host.dropFirst()))
    } else {
      try TransferHost.check(name: Array(host))
    }
    guard !bytes.contains(where: { $0 >= 0x80 }) else {
      throw Flaw("has characters outside of ASCII: percent-encode them, such as %C3%BC for ü")
    }
    guard !rest.isEmpty else {
      port = preset
      return
    }
    let digits = rest.dropFirst()
    guard rest.first == UInt8(ascii: ":"), digits.allSatisfy({ (0x30...0x39).contains($0) }),
      let port = UInt16(String(decoding: digits, as: UTF8.self)), port > 0
    else { throw Flaw("has no port from 1 to 65535 after its host: write one, or leave the colon out") }
    self.port = port
  }

  /// What is wrong with an address.
  package struct Flaw: Error, Equatable {
    package let text: String

    init(_ text: String) { self.text = text }
  }
}
