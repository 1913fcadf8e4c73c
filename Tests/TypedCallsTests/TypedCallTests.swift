import CTypedFixtures
import Glibc
import TaskModel
import Testing
import TypedCalls

@Suite("Typed call") struct TypedCallTests {
  private func call(
    _ name: String, _ signature: String, _ payload: String = "", success: SuccessRule? = nil, task: UInt64 = 77, limit: Int = 65_536
  ) throws -> TypedReturn {
    let signature = try TypedSignature(signature)
    let call = try TypedCall(signature: signature, function: #require(typed_fixture(name)), success: success)
    return call(try TypedArguments(payload: Array(payload.utf8), of: signature), task: task, outputLimit: limit)
  }

  private func output(_ name: String, _ signature: String, _ payload: String = "") throws -> String {
    String(decoding: try call(name, signature, payload).output, as: UTF8.self)
  }

  @Test("integers of every width arrive with their sign")
  func integers() throws {
    let signature = "str(i8 a, i16 b, i32 c, i64 d, u8 e, u16 f, u32 g, u64 h)"
    let extremes =
      #"{"a":-128,"b":-32768,"c":-2147483648,"d":-9223372036854775808,"#
      + #""e":255,"f":65535,"g":4294967295,"h":18446744073709551615}"#
    #expect(
      try output("show_integers", signature, extremes)
        == #""-128 -32768 -2147483648 -9223372036854775808 255 65535 4294967295 18446744073709551615""#)
    #expect(
      try output("show_integers", signature, #"{"a":127,"b":32767,"c":2147483647,"d":9223372036854775807,"e":1,"f":2,"g":3,"h":4}"#)
        == #""127 32767 2147483647 9223372036854775807 1 2 3 4""#)
  }

  @Test("numbers, truths, texts, bytes and the run arrive")
  func others() throws {
    #expect(
      try output(
        "show_others", "str(f32 a, f64 b, bool c, str d, bytes e, task)", #"{"a":0.1,"b":0.1,"c":true,"d":"grüß\ndich","e":"AAEC"}"#)
        == #""0.100000001 0.10000000000000001 1 grüß\ndich memory 3 77""#)
  }

  @Test("arguments that are left out are 0, false and NULL")
  func leftOut() throws {
    #expect(try output("show_others", "str(f32 a?, f64 b?, bool c?, str d?, bytes e?, u64 f?)") == #""0 0 0 NULL NULL 0 0""#)
    #expect(
      try output("show_integers", "str(i8 a?, i16 b?, i32 c?, i64 d?, u8 e?, u16 f?, u32 g?, u64 h?)") == #""0 0 0 0 0 0 0 0""#)
  }

  @Test("empty bytes are not NULL, and every bytes ends with a 0 behind its end", arguments: ["", "AA==", "AAECAwQFBgcICQoLDA0ODw=="])
  func emptyBytes(_ base64: String) throws {
    #expect(try output("is_terminated", "bool(bytes data)", "{\"data\":\"\(base64)\"}") == "true")
  }

  @Test("more arguments than there are registers arrive in order")
  func many() throws {
    let signature =
      "str(i64 i1, f64 f1, i32 i2, f32 f2, i8 i3, f64 f3, u64 i4, f32 f4, str i5, f64 f5, bytes i6, f32 f6, u8 i8, f64 f7, bool i9, "
      + "f32 f8, i16 i10, f64 f9, task, f32 f10)"
    let payload =
      #"{"i1":-1,"f1":1.5,"i2":-2,"f2":2.5,"i3":-3,"f3":3.5,"i4":4,"f4":4.5,"i5":"five","f5":5.5,"i6":"AQID","f6":6.5,"i8":8,"f7":7.5,"#
      + #""i9":true,"f8":8.5,"i10":-10,"f9":9.5,"f10":10.5}"#
    #expect(try output("show_many", signature, payload) == #""-1 -2 -3 4 five 6 3 8 1 -10 77 | 1.5 2.5 3.5 4.5 5.5 6.5 7.5 8.5 9.5 10.5""#)
  }

  @Test("32 arguments arrive in order")
  func thirtyTwo() throws {
    let signature = "i32(\((1...32).map { "i32 a\($0)" }.joined(separator: ", ")))"
    let payload = "{\((1...32).map { "\"a\($0)\":\($0)" }.joined(separator: ","))}"
    #expect(try output("sum_32", signature, payload) == "\((1...32).map { $0 * $0 }.reduce(0, +))")
  }

  @Test(
    "every type of result is recorded as JSON",
    arguments: [
      ("return_i8", "i8(i8 v)", "-128"), ("return_i16", "i16(i16 v)", "-32768"), ("return_i32", "i32(i32 v)", "-2147483648"),
      ("return_i64", "i64(i64 v)", "-9223372036854775808"), ("return_u8", "u8(u8 v)", "255"), ("return_u16", "u16(u16 v)", "65535"),
      ("return_u32", "u32(u32 v)", "4294967295"), ("return_u64", "u64(u64 v)", "18446744073709551615"), ("return_f32", "f32(f32 v)", "0.1"),
      ("return_f64", "f64(f64 v)", "0.1"), ("return_f64", "f64(f64 v)", "1e+100"), ("return_f64", "f64(f64 v)", "-0.0"),
      ("return_bool", "bool(bool v)", "true"), ("return_bool", "bool(bool v)", "false"),
      ("return_str", "str(str v)", #""a \"quoted\" text""#),
    ])
  func results(_ name: String, _ signature: String, _ value: String) throws {
    #expect(try output(name, signature, "{\"v\":\(value)}") == value)
  }

  @Test("only the bits of the result's own type count")
  func narrow() throws {
    #expect(try output("low_byte", "i8(i64 v)", #"{"v":511}"#) == "-1")
    #expect(try output("low_byte", "u8(i64 v)", #"{"v":-1}"#) == "255")
    #expect(try call("low_byte", "i8(i64 v)", #"{"v":256}"#).verdict == .success)
  }

  @Test("void, NULL and what JSON has no number for are recorded")
  func noNumber() throws {
    #expect(try output("return_void", "void()") == "null")
    #expect(try output("return_str", "str(str v?)") == "null")
    #expect(try output("divide", "f64(f64 a, f64 b)", #"{"a":1,"b":0}"#) == #""Infinity""#)
    #expect(try output("divide", "f64(f64 a, f64 b)", #"{"a":-1,"b":0}"#) == #""-Infinity""#)
    #expect(try output("divide", "f64(f64 a, f64 b)", #"{"a":0,"b":0}"#) == #""NaN""#)
  }

  @Test("a returned text that is no UTF-8 is repaired, control characters escaped")
  func latin1() throws {
    #expect(try output("return_latin1", "str()") == "\"caf\u{FFFD}\\u0001\"")
  }

  @Test(
    "a returned text that is too long is cut between characters, and the message says so",
    arguments: [(65_536, 65_536), (65_535, 65_534)])
  func long(_ limit: Int, _ length: Int) throws {
    let returned = try call("return_long", "str()", limit: limit)
    #expect(returned.output.count == length)
    #expect(String(validating: returned.output, as: UTF8.self)?.hasSuffix("é\"") == true)
    #expect(returned.message == "the returned text was cut to fit the output of \(limit) bytes")
    #expect(returned.verdict == .success)
  }

  @Test(
    "the rule decides what is a success",
    arguments: [
      ("return_i32", "i32(i32 v)", "0", nil, true), ("return_i32", "i32(i32 v)", "-5", nil, false),
      ("return_i32", "i32(i32 v)", "0", .nonzero, false), ("return_i32", "i32(i32 v)", "7", .nonzero, true),
      ("return_i32", "i32(i32 v)", "7", .any, true), ("return_bool", "bool(bool v)", "true", nil, true),
      ("return_bool", "bool(bool v)", "false", nil, false), ("return_bool", "bool(bool v)", "false", .zero, true),
      ("return_str", "str(str v?)", "null", nil, true), ("return_str", "str(str v?)", "null", .nonzero, false),
      ("return_str", "str(str v?)", "\"\"", .nonzero, true), ("return_str", "str(str v?)", "\"x\"", .zero, false),
      ("return_f64", "f64(f64 v)", "0", nil, true),
    ] as [(String, String, String, SuccessRule?, Bool)])
  func rules(_ name: String, _ signature: String, _ value: String, _ rule: SuccessRule?, _ isSuccess: Bool) throws {
    let returned = try call(name, signature, "{\"v\":\(value)}", success: rule)
    #expect(returned.verdict == (isSuccess ? .success : .failure))
    #expect((returned.message == nil) == isSuccess)
  }

  @Test("a failure's message names the value and the rule")
  func message() throws {
    #expect(
      try call("return_i32", "i32(i32 v)", #"{"v":-5}"#).message == "the function returned -5, which is not a success (success = \"zero\")")
  }

  @Test("a result is handed on as it is", arguments: [0, 1, 2, 3, 4, 99, -1] as [Int32])
  func result(_ code: Int32) throws {
    let returned = try call("return_result", "result(i32 v, task)", "{\"v\":\(code)}")
    #expect(returned.verdict == .result(code))
    #expect(returned.output == Array("\(code)".utf8))
  }

  @Test("a rule that does not go with the result is refused before any call")
  func refusedRule() throws {
    let function = try #require(typed_fixture("return_void"))
    #expect(throws: TypedCallError.self) { try TypedCall(signature: TypedSignature("void()"), function: function, success: .zero) }
  }

  @Test("one prepared call serves many threads at once")
  func threads() async throws {
    let signature = try TypedSignature("str(i8 a?, i16 b?, i32 c, i64 d?, u8 e?, u16 f?, u32 g?, u64 h?)")
    let call = try TypedCall(signature: signature, function: #require(typed_fixture("show_integers")))
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<64 {
        group.addTask {
          let arguments = try TypedArguments(payload: Array("{\"c\":\(number)}".utf8), of: signature)
          for _ in 0..<100 {
            let output = call(arguments, task: 0, outputLimit: 65_536).output
            guard output == Array("\"0 0 \(number) 0 0 0 0 0\"".utf8) else { throw TypedCallError.unsupported(status: number) }
          }
        }
      }
      try await group.waitForAll()
    }
  }
}
