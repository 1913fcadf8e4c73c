import StrictText
import TaskModel

/// Reads the body of `POST /v1/assertions`.
enum AssertionReader {
  private enum Field: String, CaseIterable {
    case name, reason
    case length = "for_ms"
    case process = "process_id"
  }

  /// What ``read(_:)`` takes.
  static let schema = JSONSchema.members(
    Field.allCases.flatMap { field -> [MemberSchema] in
      switch field {
      case .name: .must(field.rawValue, .text(1...Limits.assertionNameBytes))
      case .reason: .may(field.rawValue, .text(1...Limits.assertionReasonBytes))
      case .length:
        .may(
          field.rawValue,
          .integer(Limits.assertionLengths.lowerBound.wholeMilliseconds...Limits.assertionLengths.upperBound.wholeMilliseconds))
      case .process: .may(field.rawValue, .integer(1...Int64.max))
      }
    })

  /// `{"name": "backup", "reason": "uploading", "for_ms": 60000, "process_id": 4242}`; only the name is required.
  static func read(_ bytes: [UInt8]) throws(RequestRefusal) -> AssertionRequest {
    let node = try SubmissionReader.parse(bytes)
    guard case .object(let members) = node.value else {
      throw RequestRefusal(.invalid, "send an object as {\"name\": \"backup\", \"for_ms\": 60000}, not \(node.kind)")
    }
    var request = AssertionRequest(name: "")
    var hasName = false
    for member in members {
      guard let field = Field(rawValue: member.name) else {
        throw SubmissionReader.unknown(member.name, among: Field.allCases.map(\.rawValue))
      }
      switch field {
      case .name:
        request.name = try text(member.node, field)
        hasName = true
      case .reason: request.reason = try text(member.node, field)
      case .length: request.length = .milliseconds(try number(member.node, field, "of milliseconds "))
      case .process: request.process = Int32(clamping: try number(member.node, field))
      }
    }
    guard hasName else { throw refusal(.name, "is missing: say who holds the host") }
    try request.check()
    return request
  }

  private static func text(_ node: JSONNode, _ field: Field) throws(RequestRefusal) -> String {
    guard let text = node.string else { throw refusal(field, "a string is expected, this is \(node.kind)") }
    return text
  }

  private static func number(_ node: JSONNode, _ field: Field, _ unit: String = "") throws(RequestRefusal) -> Int64 {
    guard let number = node.integer else { throw refusal(field, "a whole number \(unit)is expected") }
    return number
  }

  private static func refusal(_ field: Field, _ flaw: String) -> RequestRefusal {
    RequestRefusal(.invalid, "\(field.rawValue): \(flaw)", field: field.rawValue)
  }
}
