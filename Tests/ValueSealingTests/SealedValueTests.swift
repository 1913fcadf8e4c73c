import StrictText
import Testing

@testable import ValueSealing

@Suite("A sealed value") struct SealedValueTests {
  private static func key(_ byte: UInt8) -> SealingKey { SealingKey([UInt8](repeating: byte, count: 32)) }

  /// - Source: the test vectors of c2sp.org/XAES-256-GCM.
  @Test(
    "has the cipher of the specification",
    arguments: [
      (UInt8(1), "", "ce546ef63c9cc60765923609b33a9a1974e96e52daf2fcf7075e2271"),
      (UInt8(3), "c2sp.org/XAES-256-GCM", "986ec1832593df5443a179437fd083bf3fdb41abd740a21f71eb769d"),
    ])
  func vectors(_ byte: UInt8, _ associated: String, _ expected: String) throws {
    let nonce = Array("ABCDEFGHIJKLMNOPQRSTUVWX".utf8)
    let key = Self.key(byte)
    let plain = Array("XAES-256-GCM".utf8)
    let sealed = try #require(ExtendedGCM.seal(plain, with: key.secret, after: nonce, associated: Array(associated.utf8)))
    #expect(Hex.text(sealed.dropFirst(24)) == expected)
    let opened = ExtendedGCM.open(sealed[...], with: key.secret, associated: Array(associated.utf8))
    #expect(opened.map { String(decoding: $0, as: UTF8.self) } == "XAES-256-GCM")
  }

  @Test("opens with its key and its place, and is different each time", arguments: [0, 1, 15, 16, 17, 4096, 1 << 20])
  func roundTrip(_ count: Int) throws {
    let key = Self.key(7)
    let ring = try #require(KeyRing([Self.key(9), key]))
    let plain = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 31) }
    let sealed = try #require(SealedValue.seal(plain, with: key, associated: [1, 2]))
    #expect(sealed.count == count + SealedValue.overhead)
    #expect(SealedValue.keyID(of: sealed) == key.id)
    #expect(try SealedValue.open(sealed, with: ring, associated: [1, 2]) == plain)
    #expect(SealedValue.seal(plain, with: key, associated: [1, 2]) != sealed)
  }

  @Test("does not open after any change, elsewhere, or with another key")
  func changes() throws {
    let key = Self.key(7)
    let ring = try #require(KeyRing([key]))
    let sealed = try #require(SealedValue.seal([1, 2, 3], with: key, associated: [1, 2]))
    for index in sealed.indices {
      var changed = sealed
      changed[index] ^= 1
      #expect(throws: SealFlaw.self) { try SealedValue.open(changed, with: ring, associated: [1, 2]) }
    }
    for count in 0..<sealed.count {
      #expect(throws: SealFlaw.self) { try SealedValue.open(Array(sealed.prefix(count)), with: ring, associated: [1, 2]) }
    }
    #expect(throws: SealFlaw.notAuthentic) { try SealedValue.open(sealed + [0], with: ring, associated: [1, 2]) }
    #expect(throws: SealFlaw.notAuthentic) { try SealedValue.open(sealed, with: ring, associated: [1, 3]) }
    let other = try #require(KeyRing([Self.key(8)]))
    #expect(throws: SealFlaw.missingKey(key.id)) { try SealedValue.open(sealed, with: other, associated: [1, 2]) }
  }

  @Test("shows nothing of its key")
  func silent() {
    let key = Self.key(0x41)
    #expect("\(key)" == "key \(key.id)")
    var text = ""
    dump(key, to: &text)
    #expect(text.contains("\(key.id)") && !text.contains("65, 65") && !text.contains("AAAA") && !text.contains("41414141"))
  }
}
