import CalendarTime
import StrictText
import TaskFilters
import TaskModel

/// The query of a URL. Names unknown to the route are errors.
struct QueryParameters {
  /// Largest `limit` of a listing.
  static let maximumLimit = 10_000
  /// Longest forecast: a year.
  static let maximumHours = 366 * 24

  /// Where they come from: how errors name them.
  enum Source: Sendable {
    case address, form
  }

  private var items: [(name: String, value: String)] = []

  /// Reads `a=b&c=d`; only names in `known` may occur. As in forms, `+` is a blank, and `%2B` a plus.
  init(_ query: String?, known: [String], of source: Source = .address) throws(RequestRefusal) {
    for part in (query ?? "").split(separator: "&") {
      let halves = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map { half in
        Substring(decoding: half.utf8.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }, as: UTF8.self)
      }
      let name = try Self.decode(halves[0], of: source)
      guard known.contains(name) else {
        let hint = known.isEmpty ? "; this \(source == .form ? "form" : "route") takes none" : NearestName.hint(for: name, among: known)
        throw RequestRefusal(
          .invalid, "there is no \(source == .form ? "field" : "query parameter") \"\(name.escapingControlCharacters)\"\(hint)", field: name
        )
      }
      items.append((name, halves.count == 2 ? try Self.decode(halves[1], of: source) : ""))
    }
  }

  /// All values of a repeatable parameter.
  func all(_ name: String) -> [String] { items.filter { $0.name == name }.map(\.value) }

  /// The value of a parameter that may occur once.
  func one(_ name: String) throws(RequestRefusal) -> String? {
    let values = all(name)
    guard values.count < 2 else { throw RequestRefusal(.invalid, "\(name) comes \(values.count) times: send it once", field: name) }
    return values.first
  }

  func identifier() throws(RequestRefusal) -> TaskIdentifier? {
    guard let text = try one("identifier") else { return nil }
    do {
      return try TaskIdentifier(text)
    } catch {
      throw RequestRefusal(.invalid, error.description, field: "identifier")
    }
  }

  /// The id of a request or a run, as `kind` says.
  func id<Kind>(_ name: String, ofA kind: String) throws(RequestRefusal) -> RecordID<Kind>? {
    guard let text = try one(name) else { return nil }
    guard let id = RecordID<Kind>(text) else {
      throw RequestRefusal(.invalid, "\"\(text.escapingControlCharacters)\" is the id of no \(kind)", field: name)
    }
    return id
  }

  /// The cursors of the pages that have these parameters, apart from where they begin and how long they are.
  func cursor(of listing: PageCursor.Listing) -> PageCursor {
    let selecting = items.filter { !["after", "limit"].contains($0.name) }
    return PageCursor(listing, selecting: selecting.sorted { ($0.name, $0.value) < ($1.name, $1.value) })
  }

  /// A moment in RFC 3339.
  func moment(_ name: String) throws(RequestRefusal) -> WallTime? {
    guard let text = try one(name) else { return nil }
    // The plus of an offset, where somebody has left it as it is.
    guard let time = RFC3339.parse(text) ?? RFC3339.parse(text.split(separator: " ").joined(separator: "+")) else {
      throw RequestRefusal(
        .invalid, "\(name): \"\(text.escapingControlCharacters)\" is no moment: send one like 2026-11-21T08:00:00Z", field: name)
    }
    return time
  }

  /// What `filter` says; nil if absent. A filter has words for what the parameters `others` say, so these may not come with it.
  func filter<Filter>(
    without others: [String], read: (String) throws(FilterError) -> Filter
  ) throws(RequestRefusal) -> Filter? {
    guard let text = try one("filter") else { return nil }
    if let other = others.first(where: { !all($0).isEmpty }) {
      throw RequestRefusal(.invalid, "\(other) may not come with filter: say it in the filter", field: other)
    }
    do { return try read(text) } catch { throw error.refusal() }
  }

  /// `true` or `false`; false if absent.
  func flag(_ name: String) throws(RequestRefusal) -> Bool {
    switch try one(name) {
    case nil, "false": return false
    case "true": return true
    case let text?: throw RequestRefusal(.invalid, "\(name) is true or false, not \"\(text.escapingControlCharacters)\"", field: name)
    }
  }

  /// `outcome`, repeatable.
  func outcomes() throws(RequestRefusal) -> [RunOutcome] { try named("outcome", RunOutcome.allCases) }

  private static let states = RequestState.allCases.filter { $0 != .claimed }

  /// `state`, repeatable. Pending includes claimed, which is shown as pending.
  func states() throws(RequestRefusal) -> [RequestState] {
    try named("state", Self.states).flatMap { $0 == .pending ? [.pending, .claimed] : [$0] }
  }

  /// `state`, repeatable, as the values of a filter's word.
  ///
  /// - Parameter word: Another word that the parameter may be.
  func stateNames(or word: String) throws(RequestRefusal) -> [String] {
    try all("state").map { text throws(RequestRefusal) in
      if text == word || Self.states.contains(where: { $0.rawValue == text }) { return text }
      throw unknown("state", text, among: Self.states.map(\.rawValue) + [word])
    }
  }

  private func unknown(_ parameter: String, _ text: String, among names: [String]) -> RequestRefusal {
    let hint = NearestName.hint(for: text, among: names)
    return RequestRefusal(.invalid, "there is no \(parameter) \"\(text.escapingControlCharacters)\"\(hint)", field: parameter)
  }

  private func named<Name: RawRepresentable<String>>(_ parameter: String, _ names: [Name]) throws(RequestRefusal) -> [Name] {
    try all(parameter).map { text throws(RequestRefusal) in
      if let name = names.first(where: { $0.rawValue == text }) { return name }
      throw unknown(parameter, text, among: names.map(\.rawValue))
    }
  }

  /// `limit`, or `preset` if absent.
  func limit(preset: Int) throws(RequestRefusal) -> Int { try limit() ?? preset }

  /// `limit`; nil if absent.
  func limit() throws(RequestRefusal) -> Int? { try number("limit", atMost: Self.maximumLimit) }

  /// `hours`, or `preset` if absent.
  func hours(preset: Int) throws(RequestRefusal) -> Int { try number("hours", atMost: Self.maximumHours, ", a year") ?? preset }

  private func number(_ name: String, atMost most: Int, _ note: String = "") throws(RequestRefusal) -> Int? {
    guard let text = try one(name) else { return nil }
    guard let number = Int(text), (1...most).contains(number) else {
      throw RequestRefusal(.invalid, "\(name) must be a whole number from 1 to \(most)\(note)", field: name)
    }
    return number
  }

  /// `name`, repeatable; nil if absent.
  func conditions() throws(RequestRefusal) -> Conditions? {
    var conditions: Conditions?
    for name in all("name") { conditions = (conditions ?? []).union(try Conditions(known: name, field: "name")) }
    return conditions
  }

  /// Resolves `%41`.
  static func decode(_ text: Substring, of source: Source = .address) throws(RequestRefusal) -> String {
    let place = source == .form ? "a field" : "the address"
    guard text.utf8.contains(UInt8(ascii: "%")) else { return String(text) }
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard let high = rest.popFirst().flatMap({ Character(UnicodeScalar($0)).hexDigitValue }),
        let low = rest.popFirst().flatMap({ Character(UnicodeScalar($0)).hexDigitValue })
      else { throw RequestRefusal(.invalid, "\(place) has a % that is not followed by two hexadecimal digits") }
      bytes.append(UInt8(high << 4 | low))
    }
    guard let decoded = String(validating: bytes, as: UTF8.self) else { throw RequestRefusal(.invalid, "\(place) is not UTF-8") }
    return decoded
  }
}

extension Conditions {
  init(known name: String, field: @autoclosure () -> String) throws(RequestRefusal) {
    guard let condition = Conditions(name: name) else {
      let hint = NearestName.hint(for: name, among: Conditions.named.map(\.name))
      throw RequestRefusal(
        .invalid, "there is no condition \"\(String(name.prefix(80)).escapingControlCharacters)\"\(hint)", field: field())
    }
    self = condition
  }
}
