import StrictText
import Testing

@Suite("Hexadecimal text") struct HexTests {
  @Test("it has one form for each content")
  func forms() {
    let all = (0...255).map { UInt8($0) }
    #expect(Hex.text([0x00, 0x0F, 0xA0, 0xFF]) == "000fa0ff")
    #expect(Hex.bytes(Hex.text(all).utf8, count: 256) == all)
    for text in ["0", "000", "0G", "AB", "0x00"] { #expect(Hex.bytes(text.utf8, count: 1) == nil) }
  }
}
