import StrictText
import Testing

@Suite("Base64") struct Base64Tests {
  @Test(
    "is written and read as in RFC 4648",
    arguments: [
      ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy"),
    ])
  func vectors(_ text: String, _ encoded: String) {
    #expect(Base64.encode(Array(text.utf8)) == encoded)
    #expect(Base64.decode(encoded) == Array(text.utf8))
    #expect(Base64.decode(Array(encoded.utf8)) == Array(text.utf8))
  }

  @Test(
    "what is not strict is refused",
    arguments: [
      "Z", "Zg", "Zg=", "Zg===", "Zh==", "Zm9=", "Zm 9v", "Zm9v\n", "====", "=", "==", "A===", "Zg==Zg==", "Z=g=", "=Zg=", "Zm-_", "Zmé=",
      "Zm9\0",
    ])
  func strict(_ text: String) {
    #expect(Base64.decode(text) == nil)
  }

  @Test("every byte survives at every place of a group", arguments: 0...2)
  func everyByte(_ offset: Int) {
    let bytes = Array(repeating: 0, count: offset) + Array(UInt8.min...UInt8.max)
    #expect(Base64.decode(Base64.encode(bytes)) == bytes)
  }

  @Test("every text of four characters that is read is written as the same")
  func canonical() {
    let characters = Array("AB/+=g9".utf8)
    for index in 0..<(characters.count * characters.count * characters.count * characters.count) {
      var rest = index
      let text = (0..<4).map { _ in
        defer { rest /= characters.count }
        return characters[rest % characters.count]
      }
      if let bytes = Base64.decode(text) { #expect(Array(Base64.encode(bytes).utf8) == text) }
    }
  }
}
