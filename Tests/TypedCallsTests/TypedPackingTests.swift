import Testing

@testable import TypedCalls

@Suite("Packed arguments") struct TypedPackingTests {
  private static let everything =
    "i32(i8 a, i16 b, i32 c, i64 d, u8 e, u16 f, u32 g, u64 h, f32 i, f64 j, bool k, str l, bytes m, task, i8 n?, str o?, bool p?)"
  private static let payload =
    #"{"a":-1,"b":-2,"c":-3,"d":-4,"e":5,"f":6,"g":7,"h":8,"i":0.5,"j":-0.25,"k":true,"l":"text","m":"AAE=","n":-128,"p":false}"#

  private func everything() throws -> (TypedSignature, TypedArguments) {
    let signature = try TypedSignature(Self.everything)
    return (signature, try TypedArguments(payload: Array(Self.payload.utf8), of: signature))
  }

  @Test("arguments of every type survive")
  func roundTrip() throws {
    let (signature, arguments) = try everything()
    #expect(try TypedArguments(packed: arguments.packed(for: signature), for: signature) == arguments)
  }

  @Test("the form is fixed, byte for byte")
  func form() throws {
    let signature = try TypedSignature("i32(i16 a, task, str b, bool c?, u8 d?)")
    let arguments = try TypedArguments(payload: Array(#"{"a":-2,"b":"hi","d":255}"#.utf8), of: signature)
    #expect(arguments.packed(for: signature) == [1, 2, 0xFE, 0xFF, 12, 2, 0, 0, 0, 0x68, 0x69, 11, 0, 5, 1, 255])
  }

  @Test("bytes that were cut anywhere are refused, and so is one byte more")
  func cut() throws {
    let (signature, arguments) = try everything()
    let packed = arguments.packed(for: signature)
    for length in 0..<packed.count {
      #expect(throws: TypedPackingError.self) { try TypedArguments(packed: Array(packed.prefix(length)), for: signature) }
    }
    #expect { try TypedArguments(packed: packed + [0], for: signature) } throws: { "\($0)".contains("more bytes than the signature") }
  }

  @Test("arguments of another signature are refused")
  func otherSignature() throws {
    let (signature, arguments) = try everything()
    let other = try TypedSignature(Self.everything.replacing("u64 h", with: "i64 h"))
    #expect { try TypedArguments(packed: arguments.packed(for: signature), for: other) } throws: {
      "\($0)".contains("argument h is of another type")
    }
  }

  @Test(
    "what the host never writes is refused",
    arguments: [
      ("i32(bool a)", [1, 11, 2]), ("i32(bool a?)", [1, 11, 2, 1]), ("i32(f64 a)", [1, 10, 0, 0, 0, 0, 0, 0, 0xF0, 0x7F]),
      ("i32(f32 a)", [1, 9, 0, 0, 0xC0, 0x7F]), ("i32(str a)", [1, 12, 1, 0, 0, 0, 0]), ("i32(str a)", [1, 12, 1, 0, 0, 0, 0xFF]),
      ("i32(str a)", [1, 12, 0xFF, 0xFF, 0xFF, 0xFF]), ("i32()", [2]), ("i32()", []),
    ] as [(String, [UInt8])])
  func hostile(_ signature: String, _ bytes: [UInt8]) throws {
    let signature = try TypedSignature(signature)
    #expect(throws: TypedPackingError.self) { try TypedArguments(packed: bytes, for: signature) }
  }

  @Test("packing adds no more than it says")
  func overhead() throws {
    let names = (0..<32).map { "n\($0)" }
    let signature = try TypedSignature("i32(\(names.map { "u64 \($0)?" }.joined(separator: ",")))")
    let payload = "{\(names.map { "\"\($0)\":0" }.joined(separator: ","))}"
    let arguments = try TypedArguments(payload: Array(payload.utf8), of: signature)
    #expect(arguments.packed(for: signature).count <= TypedArguments.packingOverhead)
  }
}
