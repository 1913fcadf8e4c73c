import Testing

@testable import TypedCalls

@Suite("Typed payload") struct TypedPayloadTests {
  private func values(_ payload: String, _ signature: String) throws -> [TypedValue] {
    try TypedArguments(payload: Array(payload.utf8), of: TypedSignature(signature)).values
  }

  @Test("members come in any order, with any blanks")
  func members() throws {
    let payload =
      " {\"ratio\" :0.5,\n\"account\": \"a\\u00e9\\ud83d\\ude00\\\"\" ,\t\"dry_run\":true, "
      + "\"blob\":\"AAECAw==\",\"horizon_s\":-3 } "
    #expect(
      try values(payload, "i32(str account, i64 horizon_s, f64 ratio, bool dry_run, bytes blob, task)")
        == [.text(Array("aé😀\"".utf8)), .integer(bits: UInt64(bitPattern: -3)), .double(0.5), .bool(true), .bytes([0, 1, 2, 3])])
  }

  @Test("an optional argument is left out by absence and by null", arguments: ["{}", "{\"a\":null}", "{\"b\":null,\"a\":null}", ""])
  func optional(_ payload: String) throws {
    #expect(try values(payload, "i32(str a?, i64 b?)") == [.absent, .absent])
  }

  @Test("no payload at all is an object without members")
  func empty() throws {
    #expect(try values("", "i32(task)") == [])
    #expect(try values("{ }", "i32()") == [])
    #expect { try values("", "i32(i64 n)") } throws: { "\($0)" == "argument n: it is missing and not optional: give a whole number (i64)" }
  }

  @Test(
    "the extremes of every integer type fit, one more does not",
    arguments: [
      ("i8", "-128", "127"), ("i16", "-32768", "32767"), ("i32", "-2147483648", "2147483647"),
      ("i64", "-9223372036854775808", "9223372036854775807"), ("u8", "0", "255"), ("u16", "0", "65535"), ("u32", "0", "4294967295"),
      ("u64", "0", "18446744073709551615"),
    ])
  func extremes(_ type: String, _ lowest: String, _ highest: String) throws {
    let signature = "i32(\(type) n)"
    for extreme in [lowest, highest] { _ = try values("{\"n\":\(extreme)}", signature) }
    let over = "\(highest.dropLast())\((highest.last?.wholeNumberValue ?? 0) + 1)"
    let under = lowest == "0" ? "-1" : "\(lowest.dropLast())\((lowest.last?.wholeNumberValue ?? 0) + 1)"
    for beyond in [over, under, "99999999999999999999", "-99999999999999999999", "1\(String(repeating: "0", count: 60))"] {
      let shown = beyond.count > 40 ? "\(beyond.prefix(40))…" : beyond
      #expect { try values("{\"n\":\(beyond)}", signature) } throws: {
        "\($0)" == "argument n: \(shown) does not fit \(type) (\(lowest) to \(highest))"
      }
    }
  }

  @Test("64 bits arrive exactly")
  func exact() throws {
    #expect(try values("{\"n\":9007199254740993}", "i32(i64 n)") == [.integer(bits: 9_007_199_254_740_993)])
    #expect(try values("{\"n\":18446744073709551615}", "i32(u64 n)") == [.integer(bits: .max)])
    #expect(try values("{\"n\":-9223372036854775808}", "i32(i64 n)") == [.integer(bits: 1 << 63)])
    #expect(try values("{\"n\":-0}", "i32(u8 n)") == [.integer(bits: 0)])
  }

  @Test(
    "a value of another type is refused, naming the argument",
    arguments: [
      ("i64 n", "1.0", "argument n: 1.0 is not of type i64: write a whole number without fraction or exponent"),
      ("i64 n", "1e3", "argument n: 1e3 is not of type i64: write a whole number without fraction or exponent"),
      ("u8 n", "\"1\"", "argument n: a string is not of type u8: give a whole number"),
      ("u8 n", "true", "argument n: true is not of type u8: give a whole number"),
      ("bool n", "1", "argument n: 1 is not of type bool: give true or false"),
      ("bool n", "\"true\"", "argument n: a string is not of type bool: give true or false"),
      ("f64 n", "\"NaN\"", "argument n: a string is not of type f64: give a number"),
      ("f64 n", "1e400", "argument n: 1e400 does not fit f64 (at most 1.7976931348623157e+308 in magnitude)"),
      ("f32 n", "3.5e38", "argument n: 3.5e38 does not fit f32 (at most 3.4028235e+38 in magnitude)"),
      ("f32 n", "-1e39", "argument n: -1e39 does not fit f32 (at most 3.4028235e+38 in magnitude)"),
      ("str n", "5", "argument n: 5 is not of type str: give a string"),
      ("str n", "[1]", "argument n: an array is not of type str: give a string"),
      ("str n", "{}", "argument n: an object is not of type str: give a string"),
      ("str n", "null", "argument n: null is not of type str: it is required"),
      ("str n", "\"a\\u0000b\"", "argument n: the text has a NUL character, where a C string would end: remove it, or use bytes"),
      ("bytes n", "\"AAE\"", "argument n: the string is not base64: use the alphabet A-Z a-z 0-9 + / with = padding and no blanks"),
      ("bytes n", "\"AB==\"", "argument n: the string is not base64: use the alphabet A-Z a-z 0-9 + / with = padding and no blanks"),
      ("bytes n", "\"AA==\\n\"", "argument n: the string is not base64: use the alphabet A-Z a-z 0-9 + / with = padding and no blanks"),
      ("bytes n", "\"__==\"", "argument n: the string is not base64: use the alphabet A-Z a-z 0-9 + / with = padding and no blanks"),
      ("bytes n", "[1,2]", "argument n: an array is not of type bytes: give a string of base64"),
    ])
  func mismatch(_ parameter: String, _ value: String, _ sentence: String) {
    #expect { try values("{\"n\":\(value)}", "i32(\(parameter))") } throws: { "\($0)" == sentence }
  }

  @Test("numbers are rounded once, to the nearest")
  func rounding() throws {
    #expect(try values("{\"n\":0.1}", "i32(f32 n)") == [.float(0.1)])
    #expect(try values("{\"n\":16777217}", "i32(f32 n)") == [.float(16_777_216)])
    #expect(try values("{\"n\":3.4028235e38}", "i32(f32 n)") == [.float(.greatestFiniteMagnitude)])
    #expect(try values("{\"n\":5e-324}", "i32(f64 n)") == [.double(.leastNonzeroMagnitude)])
    #expect(try values("{\"n\":-1E+2}", "i32(f64 n)") == [.double(-100)])
  }

  @Test(
    "a payload that is no object of the arguments is refused",
    arguments: [
      ("[]", "the payload must be a JSON object with the arguments by name, like {\"name\": value}: it is an array"),
      ("5", "the payload must be a JSON object with the arguments by name, like {\"name\": value}: it is 5"),
      (" ", "the payload is not JSON: line 1, column 2: the text ends where a value is expected"),
      ("{\"a\":1}x", "the payload is not JSON: line 1, column 8: there is more text after the object"),
      ("{\"a\":1,}", "the payload is not JSON: line 1, column 8: a member's name in double quotes is expected"),
      ("{,\"a\":1}", "the payload is not JSON: line 1, column 2: a member's name in double quotes is expected"),
      ("{\"a\":1", "the payload is not JSON: line 1, column 7: the text ends inside the object"),
      ("{\"a\" 1}", "the payload is not JSON: line 1, column 6: ':' is expected after a member's name"),
      ("{\n\"a\":01}", "the payload is not JSON: line 2, column 5: a number has a leading 0"),
      ("{\"a\":1.}", "the payload is not JSON: line 1, column 8: a digit is expected"),
      ("{\"a\":+1}", "the payload is not JSON: line 1, column 6: '+' does not begin a value"),
      ("{\"a\":NaN}", "the payload is not JSON: line 1, column 6: 'N' does not begin a value"),
      ("{\"a\":tru}", "the payload is not JSON: line 1, column 6: true is expected"),
      ("{\"a\":1 \"b\":2}", "the payload is not JSON: line 1, column 8: ',' or '}' is expected after a member"),
      ("{\"a\":\"\\ud800\"}", "the payload is not JSON: line 1, column 7: half of a surrogate pair"),
      ("{\"a\":\"\\x\"}", "the payload is not JSON: line 1, column 7: 'x' is not a valid escape"),
      ("{\"a\":\"\t\"}", "the payload is not JSON: line 1, column 7: a control character in a string must be escaped"),
      ("{\"a\":1,\"a\":1}", "argument a: it appears twice: give it once"),
      ("{\"a\":1,\"\\u0061\":1}", "argument a: it appears twice: give it once"),
      ("{\"a\":1,\"horizon\":1}", "argument horizon: the handler takes no argument of that name; did you mean horizon_s?"),
      ("{\"a\":1,\"A\":1}", "argument A: the handler takes no argument of that name; did you mean a?"),
      ("{\"a\":1,\"xyz\\n\":1}", "argument xyz\\n: the handler takes no argument of that name; there are: a, horizon_s"),
    ])
  func malformed(_ payload: String, _ sentence: String) {
    #expect { try values(payload, "i32(u8 a, i64 horizon_s?)") } throws: { "\($0)" == sentence }
  }

  @Test("text that is not UTF-8 is refused")
  func notUTF8() throws {
    let signature = try TypedSignature("i32(str a)")
    for bytes: [UInt8] in [[0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xE2, 0x82], [0x80]] {
      #expect { try TypedArguments(payload: Array("{\"a\":\"".utf8) + bytes + Array("\"}".utf8), of: signature) } throws: {
        "\($0)".hasSuffix("UTF-8")
      }
    }
  }

  @Test("a member of a handler without arguments is refused without a hint")
  func noArguments() {
    #expect { try values("{\"a\":1}", "i32(task)") } throws: { "\($0)" == "argument a: the handler takes no arguments" }
  }
}
