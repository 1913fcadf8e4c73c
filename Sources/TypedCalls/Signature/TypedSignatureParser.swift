import StrictText

/// Parses a signature strictly: ASCII, spaces or tabs between words, nothing after the closing parenthesis.
struct TypedSignatureParser {
  private let bytes: [UInt8]
  private var position = 0
  /// C types that authors may write by mistake, and the words to use (LP64).
  private static let wordForC = [
    "int": "i32", "long": "i64", "short": "i16", "unsigned": "u32", "size_t": "u64", "ssize_t": "i64", "float": "f32", "double": "f64",
    "char": "str", "string": "str", "int8_t": "i8", "int16_t": "i16", "int32_t": "i32", "int64_t": "i64", "uint8_t": "u8",
    "uint16_t": "u16", "uint32_t": "u32", "uint64_t": "u64", "_Bool": "bool", "taskhost_task": "task", "taskhost_result": "result",
  ]
  private static let example = "write e.g. i32(str account, i64 horizon_s?)"

  init(_ text: String) { bytes = Array(text.utf8.prefix(TypedSignature.maximumBytes + 1)) }

  mutating func signature() throws(TypedSignatureError) -> (TypedResultType, [TypedParameter]) {
    guard bytes.count <= TypedSignature.maximumBytes else {
      throw failure("the signature is longer than \(TypedSignature.maximumBytes) bytes", at: TypedSignature.maximumBytes)
    }
    skipBlanks()
    guard position < bytes.count else { throw failure("the signature is empty: \(Self.example)") }
    let result = try resultType()
    skipBlanks()
    guard take("(") else { throw unexpected("'(' is expected after the result type", remedy: Self.example) }
    let parameters = try parameters()
    skipBlanks()
    guard position == bytes.count else { throw unexpected("nothing may follow the closing ')'", remedy: "remove it") }
    return (result, parameters)
  }

  private mutating func resultType() throws(TypedSignatureError) -> TypedResultType {
    let start = position
    guard let word = word() else { throw unexpected("a result type is expected", remedy: Self.example) }
    if let type = TypedResultType(rawValue: word) { return type }
    if word == "bytes" || word == "task" {
      throw failure("\(word) is a type of arguments, not of results: use \(Self.list(TypedResultType.allCases))", at: start)
    }
    throw unknown(word, of: TypedResultType.allCases.map(\.rawValue), as: "result type", at: start)
  }

  private mutating func parameters() throws(TypedSignatureError) -> [TypedParameter] {
    var parameters: [TypedParameter] = []
    skipBlanks()
    if take(")") { return [] }
    while true {
      skipBlanks()
      let start = position
      guard parameters.count < TypedSignature.maximumArguments else {
        throw failure("there are more than \(TypedSignature.maximumArguments) arguments", at: start)
      }
      let parameter = try parameter(number: parameters.count + 1)
      if parameters.contains(where: { $0.name == parameter.name && $0.type != .task && parameter.type != .task }) {
        throw failure("a second argument is named \(parameter.name): give each its own name", at: start)
      }
      if parameter.type == .task, parameters.contains(where: { $0.type == .task }) {
        throw failure("task appears twice: a function gets its run only once", at: start)
      }
      parameters.append(parameter)
      skipBlanks()
      if take(")") { return parameters }
      guard take(",") else { throw unexpected("',' or ')' is expected after an argument", remedy: Self.example) }
    }
  }

  private mutating func parameter(number: Int) throws(TypedSignatureError) -> TypedParameter {
    let type = try argumentType(number: number)
    var isOptional = take("?")
    let mark = position - 1
    skipBlanks()
    let nameStart = position
    let name = word()
    if type == .task {
      if isOptional || next == UInt8(ascii: "?") {
        throw failure("task cannot be optional: every run has one", at: isOptional ? mark : position)
      }
      guard name == nil else { throw failure("task takes no name: it is the run itself, not a member of the payload", at: nameStart) }
      return TypedParameter(type: .task, name: "", isOptional: false)
    }
    guard let name else {
      throw unexpected("argument \(number) needs a name (that of its member in the payload)", remedy: "write \(type.rawValue) NAME")
    }
    guard !(0x30...0x39).contains(bytes[nameStart]) else {
      throw failure("an argument's name begins with a letter or _, not with a digit", at: nameStart)
    }
    guard name.utf8.count <= TypedSignature.maximumNameBytes else {
      throw failure("an argument's name is longer than \(TypedSignature.maximumNameBytes) bytes", at: nameStart)
    }
    skipBlanks()
    if next == UInt8(ascii: "?") {
      guard !isOptional else { throw failure("a second '?': one makes an argument optional") }
      position += 1
      isOptional = true
    }
    return TypedParameter(type: type, name: name, isOptional: isOptional)
  }

  private mutating func argumentType(number: Int) throws(TypedSignatureError) -> TypedArgumentType {
    let start = position
    guard let word = word() else { throw unexpected("the type of argument \(number) is expected", remedy: Self.example) }
    if let type = TypedArgumentType(rawValue: word) { return type }
    switch word {
    case "void": throw failure("void is not an argument type: write () for a function without arguments", at: start)
    case "result": throw failure("result is a type of results, not of arguments", at: start)
    default: throw unknown(word, of: TypedArgumentType.allCases.map(\.rawValue), as: "type", at: start)
    }
  }

  // MARK: Words

  private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func skipBlanks() {
    while let byte = next, byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") { position += 1 }
  }

  private mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard next == UInt8(ascii: character) else { return false }
    position += 1
    return true
  }

  /// Reads letters, digits and underscores; nil if there are none at the position.
  private mutating func word() -> String? {
    let start = position
    while let byte = next, Self.isWordByte(byte) { position += 1 }
    return position > start ? String(decoding: bytes[start..<position], as: UTF8.self) : nil
  }

  private static func isWordByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
      UInt8(ascii: "_"):
      true
    default: false
    }
  }

  // MARK: Errors

  private func failure(_ flaw: String, at offset: Int? = nil) -> TypedSignatureError {
    TypedSignatureError(flaw: flaw, column: (offset ?? position) + 1)
  }

  private func unexpected(_ expectation: String, remedy: String) -> TypedSignatureError {
    failure("\(expectation), \(next.map(Self.shown) ?? "the end") was found: \(remedy)")
  }

  private func unknown(_ word: String, of words: [String], as what: String, at start: Int) -> TypedSignatureError {
    let shown = word.utf8.count > 40 ? "\(word.prefix(40))…" : word
    if let known = Self.wordForC[word], words.contains(known) {
      return failure("\(shown) is not a \(what): C's \(word) is \(known)", at: start)
    }
    return failure("\(shown) is not a \(what)\(NearestName.hint(for: word, among: words, quote: "", slips: 1))", at: start)
  }

  private static func shown(_ byte: UInt8) -> String {
    (0x20..<0x7F).contains(byte) ? "'\(Character(UnicodeScalar(byte)))'" : "byte 0x\(String(byte, radix: 16))"
  }

  private static func list(_ types: [TypedResultType]) -> String { types.map(\.rawValue).joined(separator: ", ") }
}

/// Why a text is not a signature.
public struct TypedSignatureError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What was seen, and what to write instead.
  public let flaw: String
  /// The position in the text in bytes, from 1.
  public let column: Int

  /// The column and the flaw.
  public var description: String { "column \(column): \(flaw)" }
}
