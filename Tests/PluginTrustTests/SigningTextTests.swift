import Glibc
import StrictText
import Testing

@testable import PluginTrust

/// The texts of keys and signatures: one way to write each, and nothing else is read.
@Suite("Texts of keys and signatures") struct SigningTextTests {
  private static let digest = [UInt8](repeating: 5, count: 32)
  /// The first test vector of RFC 8032.
  private static let keyText = """
    taskhost private key, keep it secret
    format=1
    algorithm=ed25519
    id=21fe31dfa154a261
    key=nWGxne/9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A=

    """

  @Test("a key's text is the raw key of RFC 8032 in base64, and its id that of the public half")
  func vector() throws {
    let key = try PluginSigningKey(parsing: Array(Self.keyText.utf8))
    #expect(key.text == Self.keyText)
    #expect(Hex.text(key.publicKey.bytes) == "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")
    #expect(key.publicKey.id == Hex.text(SHA256.digest(of: key.publicKey.bytes).prefix(8)))
    #expect(
      key.publicKey.text
        == "taskhost public key\nformat=1\nalgorithm=ed25519\nid=21fe31dfa154a261\nkey=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\n")
  }

  @Test("what is written is read again")
  func roundTrip() throws {
    for _ in 0..<20 {
      let key = try PluginSigningKey.generate()
      let again = try PluginSigningKey(parsing: Array(key.text.utf8))
      #expect(again.publicKey == key.publicKey)
      #expect(try PluginPublicKey(parsing: Array(key.publicKey.text.utf8)) == key.publicKey)
      let signature = try again.signature(digest: Self.digest)
      #expect(try PluginSignature(parsing: Array(signature.text.utf8)) == signature)
      #expect(key.publicKey.verifies(signature, digest: Self.digest))
    }
  }

  @Test("a signature is of the format's message, not of the bare digest, and of one digest only")
  func domain() throws {
    let raw = try #require(Ed25519.newPrivateKey())
    let key = try PluginPublicKey(bytes: try #require(Ed25519.publicKey(of: raw)))
    func signature(_ message: [UInt8]) throws -> PluginSignature {
      PluginSignature(keyID: key.id, bytes: try #require(Ed25519.signature(of: message, with: raw)))
    }
    let hex = String(repeating: "05", count: 32)
    #expect(key.verifies(try signature(Array("taskhost plugin signature v1\n\(hex)\n".utf8)), digest: Self.digest))
    for message in [Self.digest, Array(hex.utf8), Array("taskhost plugin signature v2\n\(hex)\n".utf8), []] {
      #expect(!key.verifies(try signature(message), digest: Self.digest))
    }
    #expect(!key.verifies(try signature(Array("taskhost plugin signature v1\n\(hex)\n".utf8)), digest: [UInt8](repeating: 6, count: 32)))
  }

  @Test("no part of a text is read as one, and none traps")
  func truncations() throws {
    let key = try PluginSigningKey.generate()
    for text in [key.text, key.publicKey.text, try key.signature(digest: Self.digest).text].map({ Array($0.utf8) }) {
      for count in 0..<text.count { Self.expectRefused(Array(text.prefix(count))) }
      for start in 1...text.count { Self.expectRefused(Array(text.dropFirst(start))) }
      for extra in ["\n", "x", "x=1\n", "\0"] { Self.expectRefused(text + Array(extra.utf8)) }
      Self.expectRefused(text + text)
      Self.expectRefused(text.flatMap { $0 == 0x0a ? [0x0d, 0x0a] : [$0] })
      Self.expectRefused([0xef, 0xbb, 0xbf] + text)
    }
  }

  @Test("no change of a byte of a public key is read, none of a signature leaves it right", arguments: ["key", "pub", "sig"])
  func mutations(_ kind: String) throws {
    let key = try PluginSigningKey.generate()
    let text = Array((kind == "key" ? key.text : kind == "pub" ? key.publicKey.text : try key.signature(digest: Self.digest).text).utf8)
    for index in text.indices {
      for value in Set([0, 0x0a, 0x20, 0x2b, 0x3d, 0x41, 0x7f, 0x80, 0xff, text[index] ^ 1, text[index] ^ 0x20, text[index] &+ 1])
      where value != text[index] {
        var mutant = text
        mutant[index] = value
        switch kind {
        // The id binds the key, so that no other key passes for it.
        case "key": #expect(throws: SigningFlaw.self) { try PluginSigningKey(parsing: mutant) }
        case "pub": #expect(throws: SigningFlaw.self) { try PluginPublicKey(parsing: mutant) }
        default:
          if let signature = try? PluginSignature(parsing: mutant) {
            #expect(!key.publicKey.verifies(signature, digest: Self.digest))
          }
        }
      }
    }
  }

  @Test("a private key shows nothing of its secret")
  func secrecy() throws {
    let key = try PluginSigningKey(parsing: Array(Self.keyText.utf8))
    var dumped = ""
    dump(key, to: &dumped)
    for text in ["\(key)", String(reflecting: key), dumped, "\([key])"] {
      #expect(!text.contains("nWGxne") && !text.contains("157") && text.contains("21fe31dfa154a261"))
    }
  }

  private static func expectRefused(_ text: [UInt8]) {
    #expect(throws: SigningFlaw.self) { try PluginSigningKey(parsing: text) }
    #expect(throws: SigningFlaw.self) { try PluginPublicKey(parsing: text) }
    #expect(throws: SigningFlaw.self) { try PluginSignature(parsing: text) }
  }
}
