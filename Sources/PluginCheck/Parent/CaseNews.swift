import TaskModel

/// A report of a case process. It is sent immediately, so that it survives a crash.
enum CaseNews: Equatable {
  /// The current step, to describe a crash or a hang.
  case at(String)
  /// A broken rule, or something worth a look.
  case finding(CheckFinding)
  /// A registration of the plugin.
  case registered(HandlerRegistration)
  /// The case does not apply, for this reason.
  case skipped(String)
  /// The case has ended; the text says what was seen.
  case done(String)

  func encode() -> [UInt8] {
    switch self {
    case .at(let text): Fields.encode(["at", text])
    case .finding(let finding): Fields.encode(["finding", finding.severity.rawValue, finding.seen, finding.rule, finding.detail])
    case .registered(let registration):
      Fields.encode([
        "registered", registration.identifier.rawValue, registration.kind.rawValue,
        registration.budget.map { "\($0.wholeMilliseconds)" } ?? "", "\(registration.maxConcurrentRuns)", registration.displayName ?? "",
        registration.version ?? "",
      ])
    case .skipped(let text): Fields.encode(["skipped", text])
    case .done(let text): Fields.encode(["done", text])
    }
  }

  /// nil if `encode()` did not produce `fields`.
  init?(_ fields: [[UInt8]]) {
    let texts = fields.map { String(decoding: $0, as: UTF8.self) }
    switch (texts.first, texts.count) {
    case ("at", 2): self = .at(texts[1])
    case ("skipped", 2): self = .skipped(texts[1])
    case ("done", 2): self = .done(texts[1])
    case ("finding", 5):
      guard let severity = CheckFinding.Severity(rawValue: texts[1]) else { return nil }
      self = .finding(CheckFinding(severity, seen: texts[2], rule: texts[3], detail: texts[4]))
    case ("registered", 7):
      guard let identifier = try? TaskIdentifier(texts[1]), let kind = TaskKind(rawValue: texts[2]), let runs = Int(texts[4]) else {
        return nil
      }
      self = .registered(
        HandlerRegistration(
          identifier: identifier, kind: kind, budget: Int64(texts[3]).map { .milliseconds($0) }, maxConcurrentRuns: runs,
          displayName: texts[5].isEmpty ? nil : texts[5], version: texts[6].isEmpty ? nil : texts[6]))
    default: return nil
    }
  }
}

/// The format between the checker and its case processes: a count, then each byte string as `LENGTH:BYTES`.
enum Fields {
  static func encode(_ fields: [[UInt8]]) -> [UInt8] {
    var bytes = Array("\(fields.count)\n".utf8)
    for field in fields {
      bytes += Array("\(field.count):".utf8)
      bytes += field
    }
    return bytes
  }

  /// Encodes texts as byte strings.
  static func encode(_ texts: [String]) -> [UInt8] { encode(texts.map { Array($0.utf8) }) }

  /// Takes the next list from the beginning of `bytes`; nil if it is incomplete or malformed.
  static func take(from bytes: inout ArraySlice<UInt8>) -> [[UInt8]]? {
    var rest = bytes
    guard let count = number(before: UInt8(ascii: "\n"), in: &rest), count <= 64 else { return nil }
    var fields: [[UInt8]] = []
    for _ in 0..<count {
      guard let length = number(before: UInt8(ascii: ":"), in: &rest), length <= rest.count else { return nil }
      fields.append(Array(rest.prefix(length)))
      rest = rest.dropFirst(length)
    }
    bytes = rest
    return fields
  }

  private static func number(before mark: UInt8, in rest: inout ArraySlice<UInt8>) -> Int? {
    guard let end = rest.prefix(12).firstIndex(of: mark), let value = Int(String(decoding: rest[..<end], as: UTF8.self)), value >= 0 else {
      return nil
    }
    rest = rest[rest.index(after: end)...]
    return value
  }
}
