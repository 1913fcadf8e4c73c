import CalendarTime
import StrictText
import TaskModel

extension SubmissionReader {
  func text(_ node: JSONNode, _ field: RequestField, part: @autoclosure () -> String = "") throws(RequestRefusal) -> String {
    guard let text = node.string else { throw field.refusal("must be a string, this is \(node.kind)", part: part()) }
    return text
  }

  func truth(_ node: JSONNode, _ field: RequestField) throws(RequestRefusal) -> Bool {
    guard let truth = node.bool else { throw field.refusal("must be true or false, this is \(node.kind)") }
    return truth
  }

  func integer(_ node: JSONNode, _ field: RequestField, part: String = "") throws(RequestRefusal) -> Int64 {
    guard let number = node.integer else {
      let seen = if case .number = node.value { String(decoding: bytes[node.range].prefix(40), as: UTF8.self) } else { node.kind }
      throw field.refusal("must be a whole number, this is \(seen)", part: part)
    }
    return number
  }

  func milliseconds(_ node: JSONNode, _ field: RequestField, part: String = "") throws(RequestRefusal) -> Duration {
    .milliseconds(try integer(node, field, part: part))
  }

  func named<Name>(_ node: JSONNode, _ field: RequestField, part: String = "") throws(RequestRefusal) -> Name
  where Name: RawRepresentable<String> & CaseIterable {
    let text = try text(node, field, part: part)
    guard let name = Name(rawValue: text) else { throw noSuchName(text, among: Name.allCases.map(\.rawValue), field, part: part) }
    return name
  }

  func noSuchName(_ text: String, among names: [String], _ field: RequestField, part: String = "") -> RequestRefusal {
    let shown = String(text.prefix(80)).escapingControlCharacters
    return field.refusal("there is no \"\(shown)\"\(NearestName.hint(for: text, among: names))", part: part)
  }

  func strings(_ node: JSONNode, _ field: RequestField) throws(RequestRefusal) -> [String] {
    guard let elements = node.array else { throw field.refusal("must be an array of strings, this is \(node.kind)") }
    var strings: [String] = []
    for (index, element) in elements.enumerated() { strings.append(try text(element, field, part: "[\(index)]")) }
    return strings
  }

  /// A moment in RFC 3339, or in milliseconds since 1970.
  func moment(_ value: JSONNode, _ field: RequestField) throws(RequestRefusal) -> WallTime {
    guard field != .earliestBeginUnix, field != .deadlineUnix else { return WallTime(unixMilliseconds: try integer(value, field)) }
    let text = try text(value, field)
    guard let time = RFC3339.parse(text) else {
      let shown = String(text.prefix(60)).escapingControlCharacters
      throw field.refusal("\"\(shown)\" is not a time: write it as 2026-11-21T08:00:00Z or with an offset as +01:00")
    }
    return time
  }
}
