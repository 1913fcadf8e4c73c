import TaskModel
import Testing

@testable import TypedCalls

@Suite("Typed signature") struct TypedSignatureTests {
  @Test("the documented example reads as what it says")
  func example() throws {
    let signature = try TypedSignature("i32(str account, i64 horizon_s, f64 ratio, bool dry_run, bytes blob, task)")
    #expect(signature.result == .i32)
    #expect(signature.parameters.map(\.type) == [.str, .i64, .f64, .bool, .bytes, .task])
    #expect(signature.parameters.map(\.name) == ["account", "horizon_s", "ratio", "dry_run", "blob", ""])
    #expect(signature.parameters.allSatisfy { !$0.isOptional })
    #expect(signature.parameters.reduce(0) { $0 + $1.type.nativeCount } == 7)
  }

  @Test("every type of argument is read", arguments: TypedArgumentType.allCases.filter { $0 != .task })
  func argumentTypes(_ type: TypedArgumentType) throws {
    let parameter = try #require(TypedSignature("void(\(type.rawValue) value?)").parameters.first)
    #expect(parameter == TypedParameter(type: type, name: "value", isOptional: true))
  }

  @Test("every type of result is read", arguments: TypedResultType.allCases)
  func resultTypes(_ type: TypedResultType) throws {
    #expect(try TypedSignature("\(type.rawValue)()").result == type)
  }

  @Test(
    "is printed in one form, which reads back as the same",
    arguments: [
      ("i32()", "i32()"),
      ("  void\t(  )  ", "void()"),
      ("str(str a,i8 b?,task)", "str(str a, i8 b?, task)"),
      ("str( str? a , i8 b ? , task )", "str(str a?, i8 b?, task)"),
      ("result(task)", "result(task)"),
      ("u64(u64 i64, bytes task, bool _1)", "u64(u64 i64, bytes task, bool _1)"),
    ])
  func canonical(_ text: String, _ canonical: String) throws {
    let signature = try TypedSignature(text)
    #expect(signature.description == canonical)
    #expect(try TypedSignature(signature.description) == signature)
  }

  @Test(
    "what is none is refused with its place and the remedy",
    arguments: [
      ("", "column 1: the signature is empty: write e.g. i32(str account, i64 horizon_s?)"),
      ("i32", "column 4: '(' is expected after the result type, the end was found: write e.g. i32(str account, i64 horizon_s?)"),
      (
        "i32(str account",
        "column 16: ',' or ')' is expected after an argument, the end was found: write e.g. i32(str account, i64 horizon_s?)"
      ),
      ("i32(str)", "column 8: argument 1 needs a name (that of its member in the payload), ')' was found: write str NAME"),
      ("i32(str a) x", "column 12: nothing may follow the closing ')', 'x' was found: remove it"),
      ("i32(i46 a)", "column 5: i46 is not a type; did you mean i16?"),
      ("int(str a)", "column 1: int is not a result type: C's int is i32"),
      ("i32(size_t n)", "column 5: size_t is not a type: C's size_t is u64"),
      (
        "bytes()",
        "column 1: bytes is a type of arguments, not of results: use i8, i16, i32, i64, u8, u16, u32, u64, f32, f64, bool, str, void, "
          + "result"
      ),
      ("i32(void)", "column 5: void is not an argument type: write () for a function without arguments"),
      ("i32(result a)", "column 5: result is a type of results, not of arguments"),
      ("i32(str a, u8 a)", "column 12: a second argument is named a: give each its own name"),
      ("i32(task, task)", "column 11: task appears twice: a function gets its run only once"),
      ("i32(task run)", "column 10: task takes no name: it is the run itself, not a member of the payload"),
      ("i32(task?)", "column 9: task cannot be optional: every run has one"),
      ("i32(str? a?)", "column 11: a second '?': one makes an argument optional"),
      ("i32(str 1a)", "column 9: an argument's name begins with a letter or _, not with a digit"),
      ("i32(str a,)", "column 11: the type of argument 2 is expected, ')' was found: write e.g. i32(str account, i64 horizon_s?)"),
      ("i32(str ä)", "column 9: argument 1 needs a name (that of its member in the payload), byte 0xc3 was found: write str NAME"),
      ("i32(str\n a)", "column 8: argument 1 needs a name (that of its member in the payload), byte 0xa was found: write str NAME"),
      ("i32(str *a)", "column 9: argument 1 needs a name (that of its member in the payload), '*' was found: write str NAME"),
    ])
  func refused(_ text: String, _ sentence: String) {
    #expect { try TypedSignature(text) } throws: { "\($0)" == sentence }
  }

  @Test("32 arguments are allowed, 33 are not")
  func argumentLimit() throws {
    let arguments = (1...33).map { "i32 a\($0)" }
    #expect(try TypedSignature("i32(\(arguments.prefix(32).joined(separator: ",")))").parameters.count == 32)
    #expect { try TypedSignature("i32(\(arguments.joined(separator: ",")))") } throws: { "\($0)".contains("more than 32 arguments") }
  }

  @Test("a name has at most 64 bytes, a signature 4096")
  func lengthLimits() throws {
    #expect(try TypedSignature("i32(str \(String(repeating: "n", count: 64)))").parameters.count == 1)
    #expect { try TypedSignature("i32(str \(String(repeating: "n", count: 65)))") } throws: { "\($0)".contains("longer than 64 bytes") }
    #expect(try TypedSignature("i32(\(String(repeating: " ", count: 4091)))").parameters.isEmpty)
    #expect { try TypedSignature("i32(\(String(repeating: " ", count: 4092)))") } throws: { "\($0)".contains("longer than 4096 bytes") }
  }

  @Test(
    "without a rule integers succeed with zero, truths with true, the rest always",
    arguments: [("i8", SuccessRule.zero), ("u64", .zero), ("bool", .nonzero), ("str", .any), ("f64", .any), ("void", .any)])
  func defaultRules(_ result: String, _ rule: SuccessRule) throws {
    #expect(try TypedSignature("\(result)()").successRule(nil) == rule)
  }

  @Test(
    "a rule that says nothing about the result is refused",
    arguments: [
      ("f64", SuccessRule.zero, "success is \"zero\", which does not apply to a result of type f64: use \"any\""),
      ("void", .nonzero, "success is \"nonzero\", but \"void\" returns nothing to judge: leave success out, or write \"any\""),
      ("result", .any, "success is \"any\", but a \"result\" already states the outcome: leave success out"),
    ])
  func refusedRules(_ result: String, _ rule: SuccessRule, _ sentence: String) throws {
    let signature = try TypedSignature("\(result)()")
    #expect { try signature.successRule(rule) } throws: { "\($0)" == sentence }
  }
}
