import StrictText
import TaskModel

/// Reads the bodies of the routes about conditions, events and snoozing.
enum SchedulingReader {
  /// Largest body of an event: the largest payload as base64, and the object around it.
  static let eventBytes = 131_072
  /// The values of an override, and whether the condition then holds.
  private static let truths: [(text: String, holds: Bool)] = [
    ("none", false), ("any", true), ("held", true), ("false", false), ("true", true),
  ]

  /// The members of an event's body: at most one of them.
  private static let payloads: [RequestField] = [.payload, .payloadBase64]
  private static let why = "why"

  static let delaySchema = JSONSchema.object(.must(RequestField.delay.rawValue, RequestField.delay.schema))
  static let identifierSchema = JSONSchema.object(.must(RequestField.identifier.rawValue, RequestField.identifier.schema))
  static let reasonSchema = JSONSchema.object(.may(why, .text(1...RequestPause.reasonBytes)))
  static let eventSchema = JSONSchema.members(.may(payloads))
  static let overridesSchema = JSONSchema.members(
    .may(Conditions.named.map(\.name), .choice([.boolean, .names(truths.map(\.text))])))

  /// `{"delay_ms": 900000}`
  static func delay(in bytes: [UInt8]) throws(RequestRefusal) -> Duration {
    let node = try SubmissionReader.parse(bytes)
    _ = try fields(of: node, among: [.delay], as: "{\"delay_ms\": 900000}")
    guard let milliseconds = node[.delay]?.integer else {
      throw RequestField.delay.refusal("a whole number of milliseconds is expected")
    }
    let delay = Duration.milliseconds(milliseconds)
    try RequestField.delay.check(delay)
    return delay
  }

  /// `{"network": "none", "power": true}`
  static func overrides(in bytes: [UInt8]) throws(RequestRefusal) -> [(condition: Conditions, holds: Bool)] {
    let node = try SubmissionReader.parse(bytes)
    let example = "{\"network\": \"none\"}"
    guard case .object(let members) = node.value else { throw RequestRefusal(.invalid, "send an object as \(example), not \(node.kind)") }
    guard !members.isEmpty else { throw RequestRefusal(.invalid, "the object is empty: name a condition as \(example)") }
    var overrides: [(condition: Conditions, holds: Bool)] = []
    for member in members {
      let condition = try Conditions(known: member.name, field: member.name)
      guard let holds = member.node.bool ?? truths.first(where: { $0.text == member.node.string })?.holds else {
        let seen = member.node.string.map { "\"\($0.prefix(40).description.escapingControlCharacters)\"" } ?? member.node.kind
        throw RequestRefusal(
          .invalid, "\(member.name): \(seen) says neither: send false or \"none\" (it does not hold), true, \"any\" or \"held\" (it holds)",
          field: member.name)
      }
      overrides.append((condition, holds))
    }
    return overrides
  }

  /// `{"why": …}`; nil for an empty body or object.
  static func reason(in bytes: [UInt8]) throws(RequestRefusal) -> String? {
    guard !bytes.isEmpty else { return nil }
    let node = try SubmissionReader.parse(bytes)
    guard case .object(let members) = node.value else { throw RequestRefusal(.invalid, "send {\"why\": …}, not \(node.kind)") }
    if let other = members.first(where: { $0.name != why }) { throw SubmissionReader.unknown(other.name, among: [why]) }
    guard let member = members.first else { return nil }
    guard let text = member.node.string else {
      throw RequestRefusal(.invalid, "why: must be a string, this is \(member.node.kind)", field: "why")
    }
    return text
  }

  /// `{"payload": …}`, `{"payload_base64": …}`; nil for an empty body or object.
  static func eventPayload(in bytes: [UInt8]) throws(RequestRefusal) -> [UInt8]? {
    guard !bytes.isEmpty else { return nil }
    let node = try SubmissionReader.parse(bytes, opaque: [RequestField.payload.rawValue])
    let given = try fields(of: node, among: payloads, as: "{\"payload\": …}")
    guard let field = given.first, let value = node[field] else { return nil }
    return try SubmissionReader(bytes: bytes).payload(field, value)
  }

  /// `{"identifier": …}`
  static func identifier(in bytes: [UInt8]) throws(RequestRefusal) -> TaskIdentifier {
    let node = try SubmissionReader.parse(bytes)
    _ = try fields(of: node, among: [.identifier], as: "{\"identifier\": …}")
    guard let value = node[.identifier] else { throw RequestField.identifier.refusal("is missing: say whose handler is meant") }
    return try SubmissionReader(bytes: bytes).taskIdentifier(value)
  }

  private static func fields(
    of node: JSONNode, among known: [RequestField], as example: String
  ) throws(RequestRefusal) -> [RequestField] {
    guard case .object(let members) = node.value else { throw RequestRefusal(.invalid, "send \(example), not \(node.kind)") }
    return try SubmissionReader.fields(of: members, among: known)
  }
}
