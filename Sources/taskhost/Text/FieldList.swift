import CalendarTime
import StrictText
import TaskHostClient
import TaskModel

/// An answer's members, one per line, for people.
struct FieldList {
  private let answer: Answer
  private let omitted: [String]
  private let now: Int64

  /// The members of an answer, except those in `omitted`.
  init(_ answer: Answer, omitting omitted: [String] = [], now: Int64 = MomentText.now) {
    self.answer = answer
    self.omitted = omitted
    self.now = now
  }

  /// The lines, with names padded to the longest.
  func render() -> [String] {
    guard case .object(let members) = answer.node.value else { return [] }
    var fields: [(name: String, lines: [String])] = []
    for member in members where !member.name.hasSuffix("_unix_ms") && !omitted.contains(member.name) {
      guard let lines = lines(of: member, among: answer.node) else { continue }
      fields.append((Self.title(of: member), lines))
    }
    let width = fields.map(\.name.count).max() ?? 0
    return fields.flatMap { field in
      field.lines.enumerated().map { index, line in
        let name = index == 0 ? field.name : ""
        return "\(name)\(String(repeating: " ", count: width - name.count))  \(line)"
      }
    }
  }

  /// Suffixes of names that state a unit, which the shown text contains itself.
  private static let units = ["_ms", "_bytes"]

  private static func title(of member: JSONMember) -> String {
    let name = units.first { member.name.hasSuffix($0) }.map { String(member.name.dropLast($0.count)) } ?? member.name
    return name.split(separator: "_").joined(separator: " ")
  }

  func print() { for line in render() { Terminal.print(line) } }

  /// The lines of a member: one for each frame of a stack, otherwise one.
  private func lines(of member: JSONMember, among node: JSONNode) -> [String]? {
    if member.name == "trouble", let trouble = member.node.string {
      return trouble.split(separator: "\n").map { String($0).escapingControlCharacters }
    }
    return text(of: member, among: node).map { [$0] }
  }

  private func text(of member: JSONMember, among node: JSONNode) -> String? {
    if let moment = node["\(member.name)_unix_ms"]?.integer {
      return "\(MomentFormat.local(moment)) (\(MomentFormat.relative(moment, now: now)))"
    }
    if member.name.hasSuffix("_ms"), let length = member.node.integer { return DurationFormat.words(milliseconds: length) }
    if member.name.hasSuffix("_bytes"), let count = member.node.integer { return ByteCountFormat.words(count) }
    // The operator chose the names of resources.
    if member.name == "work", let work = try? read(WorkAnswer.self, member.node) { return WorkText.words(work) }
    if member.name == "progress", let progress = try? read(ProgressAnswer.self, member.node) { return WorkText.words(progress) }
    if case .object(let members) = member.node.value, member.name != "resources" {
      return members.filter { !$0.name.hasSuffix("_unix_ms") }.compactMap { inner in
        text(of: inner, among: member.node).map { "\(Self.title(of: inner)) \($0)" }
      }.joined(separator: ", ")
    }
    return text(of: member.node)
  }

  private func read<Value: Decodable>(_ type: Value.Type, _ node: JSONNode) throws -> Value {
    try Value(from: AnswerDecoder(node, in: answer.bytes))
  }

  private func text(of node: JSONNode) -> String? {
    switch node.value {
    case .null: nil
    case .bool(let truth): truth ? "yes" : "no"
    case .string(let text): text.escapingControlCharacters
    case .number, .opaque: String(decoding: answer.bytes(of: node), as: UTF8.self).escapingControlCharacters
    case .array(let elements): elements.isEmpty ? nil : elements.compactMap { text(of: $0) }.joined(separator: ", ")
    case .object(let members):
      members.compactMap { member in
        text(of: member, among: node).map { "\(member.name) \($0)" }
      }.joined(separator: ", ")
    }
  }
}
