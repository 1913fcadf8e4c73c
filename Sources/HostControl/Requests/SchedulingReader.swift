import StrictText
import TaskModel

/// Reads the bodies of the routes about conditions, events and snoozing.
enum SchedulingReader {
  /// Largest body of an event: the largest payload there is as base64, and what is around it.
  static let eventBytes = 131_072
  /// What an override may say, and what it means.
  private static let truths: [(text: String, holds: Bool)] = [
    ("none", false), ("any", true), ("held", true), ("false", false), ("true", true),
  ]

  /// `{"delay_ms": 900000}`
  static func delay(in bytes: [UInt8]) throws(RequestRefusal) -> Duration {
    let node = try SubmissionReader.parse(bytes)
    _ = try members(of: node, among: ["delay_ms"], as: "{\"delay_ms\": 900000}")
    let longest = Limits.longestDuration.wholeMilliseconds
    guard let delay = node["delay_ms"]?.integer, (0...longest).contains(delay) else {
      throw RequestRefusal(.invalid, "delay_ms: a whole number of milliseconds from 0 to \(longest) is expected", field: "delay_ms")
    }
    return .milliseconds(delay)
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

  /// `{"payload": …}`, `{"payload_base64": …}`; nil for an empty body or object.
  static func eventPayload(in bytes: [UInt8]) throws(RequestRefusal) -> [UInt8]? {
    guard !bytes.isEmpty else { return nil }
    let node = try SubmissionReader.parse(bytes, opaque: ["payload"])
    let members = try members(of: node, among: ["payload", "payload_base64"], as: "{\"payload\": …}")
    guard members.count < 2 else {
      throw RequestRefusal(.invalid, "payload and payload_base64 exclude each other: send one", field: "payload_base64")
    }
    guard let member = members.first else { return nil }
    let payload: [UInt8]
    if member.name == "payload" {
      payload = Array(bytes[member.node.range])
    } else {
      guard let decoded = member.node.string.flatMap(Base64.decode) else {
        throw RequestRefusal(.invalid, "payload_base64: is not base64 (RFC 4648 §4, with padding, without blanks)", field: member.name)
      }
      payload = decoded
    }
    guard payload.count <= Limits.payloadBytes else {
      throw RequestRefusal(
        .tooBig, "\(member.name): \(payload.count) bytes, more than \(Limits.payloadBytes): pass a file's path instead",
        field: member.name)
    }
    return payload
  }

  /// The members of an object that has no others than those known.
  private static func members(of node: JSONNode, among known: [String], as example: String) throws(RequestRefusal) -> [JSONMember] {
    guard case .object(let members) = node.value else { throw RequestRefusal(.invalid, "send \(example), not \(node.kind)") }
    if let other = members.first(where: { !known.contains($0.name) }) {
      throw RequestRefusal(.invalid, "there is no such member\(NearestName.hint(for: other.name, among: known))", field: other.name)
    }
    return members
  }
}
