import TaskModel

/// The parameters of a page's address, and the fields of a form: names and values as browsers encode them.
struct PageQuery {
  private let parameters: QueryParameters

  /// Reads `a=b+c&d=%65`; only names in `known`, and those that every page takes, may occur.
  ///
  /// - Source: WHATWG URL, application/x-www-form-urlencoded: a plus sign is a blank.
  init(_ text: String?, known: [String]) throws(RequestRefusal) {
    parameters = try QueryParameters(text, known: known + ["part", "done", "count"])
  }

  /// The fields of a form.
  init(form bytes: [UInt8], known: [String]) throws(RequestRefusal) {
    guard let text = String(validating: bytes, as: UTF8.self) else { throw RequestRefusal(.invalid, "the form is not UTF-8") }
    parameters = try QueryParameters(text, known: known, of: .form)
  }

  /// A value without blanks around it; nil if it is absent or empty.
  func text(_ name: String) throws(RequestRefusal) -> String? {
    guard let value = try parameters.one(name) else { return nil }
    let isBlank = { (character: Character) in character == " " || character == "\n" || character == "\r\n" || character == "\t" }
    guard let first = value.firstIndex(where: { !isBlank($0) }), let last = value.lastIndex(where: { !isBlank($0) }) else { return nil }
    return String(value[first...last])
  }

  /// A value as it was typed; nil if it is absent.
  func whole(_ name: String) throws(RequestRefusal) -> String? { try parameters.one(name) }

  /// The id of a request or a run, as `kind` says; nil if it is absent.
  func id<Kind>(_ name: String, ofA kind: String) throws(RequestRefusal) -> RecordID<Kind>? { try parameters.id(name, ofA: kind) }

  /// Where the page begins; nil for the first one.
  func after<Kind>(_ cursor: PageCursor) throws(RequestRefusal) -> RecordID<Kind>? { try cursor.read(text("after")) }

  /// Whether only the parts are wanted that a page replaces.
  var isPart: Bool { (try? text("part")) == "live" }

  /// What was just done, in a sentence.
  var done: String? {
    guard let done = (try? text("done")).flatMap({ $0.flatMap(PageResult.init(rawValue:)) }) else { return nil }
    return done.sentence((try? text("count")).flatMap { $0.flatMap { Int($0) } })
  }
}
