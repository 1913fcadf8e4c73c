import StrictText
import TaskModel

/// Values as members have them.
extension SubmissionReader {
  /// An error about a member of the present request.
  func failure(_ field: String?, _ message: String, code: RequestRefusal.Code = .invalid) -> RequestRefusal {
    let path = [index.map { "[\($0)]" }, field].compactMap(\.self).joined(separator: ".")
    return RequestRefusal(code, path.isEmpty ? message : "\(path): \(message)", field: path.isEmpty ? nil : path)
  }

  func text(_ node: JSONNode, _ field: String) throws(RequestRefusal) -> String {
    guard let text = node.string else { throw failure(field, "must be a string, this is \(node.kind)") }
    return text
  }

  func truth(_ node: JSONNode, _ field: String) throws(RequestRefusal) -> Bool {
    guard let truth = node.bool else { throw failure(field, "must be true or false, this is \(node.kind)") }
    return truth
  }

  func integer(_ node: JSONNode, _ field: String, in range: ClosedRange<Int64>) throws(RequestRefusal) -> Int64 {
    guard case .number = node.value else { throw failure(field, "must be a whole number, this is \(node.kind)") }
    guard let number = node.integer else {
      let text = String(decoding: bytes[node.range].prefix(40), as: UTF8.self)
      throw failure(field, "must be a whole number from \(range.lowerBound) to \(range.upperBound), this is \(text)")
    }
    guard range.contains(number) else {
      throw failure(field, "\(number) is outside of \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  func integer(_ node: JSONNode, _ field: String, in range: ClosedRange<Int>) throws(RequestRefusal) -> Int {
    Int(clamping: try integer(node, field, in: Int64(range.lowerBound)...Int64(range.upperBound)))
  }

  func milliseconds(_ node: JSONNode, _ field: String, atLeast least: Int64 = 0) throws(RequestRefusal) -> Duration {
    .milliseconds(try integer(node, field, in: least...Limits.longestDuration.wholeMilliseconds))
  }

  func named<Name>(_ node: JSONNode, _ field: String, _: Name.Type) throws(RequestRefusal) -> Name
  where Name: RawRepresentable<String> & CaseIterable {
    let text = try text(node, field)
    guard let name = Name(rawValue: text) else {
      throw failure(field, noSuchName(text, among: Name.allCases.map(\.rawValue)))
    }
    return name
  }

  func noSuchName(_ text: String, among names: [String]) -> String {
    "there is no \"\(text.prefix(80).description.escapingControlCharacters)\"\(NearestName.hint(for: text, among: names))"
  }

  /// A text of 1 to ``Limits/keyBytes`` bytes.
  func key(_ node: JSONNode, _ field: String) throws(RequestRefusal) -> String {
    let key = try text(node, field)
    guard (1...Limits.keyBytes).contains(key.utf8.count) else {
      throw failure(field, "has \(key.utf8.count) bytes: use 1 to \(Limits.keyBytes)")
    }
    return key
  }

  func strings(_ node: JSONNode, _ field: String) throws(RequestRefusal) -> [String] {
    guard let elements = node.array else { throw failure(field, "must be an array of strings, this is \(node.kind)") }
    var strings: [String] = []
    for (index, element) in elements.enumerated() { strings.append(try text(element, "\(field)[\(index)]")) }
    return strings
  }

  /// A moment as milliseconds since 1970, where the member's name ends so, else as RFC 3339.
  func moment(_ name: String, _ value: JSONNode) throws(RequestRefusal) -> WallTime {
    if name.hasSuffix("_unix_ms") {
      let range = WallTime.calendar.lowerBound.unixMilliseconds...WallTime.calendar.upperBound.unixMilliseconds
      return WallTime(unixMilliseconds: try integer(value, name, in: range))
    }
    let text = try text(value, name)
    guard let time = RFC3339.parse(text) else {
      let shown = String(text.prefix(60)).escapingControlCharacters
      throw failure(name, "\"\(shown)\" is no time: write it as 2026-11-21T08:00:00Z or with an offset as +01:00")
    }
    guard WallTime.calendar.contains(time) else { throw failure(name, "lies outside of the years 1970 to 9999") }
    return time
  }
}
