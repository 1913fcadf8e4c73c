import CalendarTime
import StrictText
import TaskModel

/// The terms of a filter, checked for their words and read by them.
struct FilterTerms {
  private let terms: [(word: FilterWord, term: FilterTerm)]

  /// Reads a filter in which only these words may occur.
  ///
  /// - Parameter kind: What the filter selects, in the plural, for sentences.
  init(_ text: String, of kind: String, known: [FilterWord]) throws(FilterError) {
    var terms: [(word: FilterWord, term: FilterTerm)] = []
    for term in try FilterScanner.terms(of: text) {
      guard let word = known.first(where: { $0.rawValue == term.name }) else {
        throw FilterError(position: term.position, message: Self.unknown(term.name, of: kind, known: known))
      }
      if word == .payload {
        guard !term.path.isEmpty else {
          throw FilterError(position: term.position, message: "payload needs the name of a member: write \(word.example)")
        }
      } else if !term.path.isEmpty {
        throw FilterError(position: term.position, message: "\(word.rawValue) has no parts: write \(word.example)")
      }
      if !word.mayRepeat, terms.contains(where: { $0.word == word }) {
        throw FilterError(
          position: term.position, message: "\(word.rawValue) comes twice: separate several values with commas, as in \(word.rawValue):A,B")
      }
      terms.append((word, term))
    }
    self.terms = terms
  }

  private static func unknown(_ name: String, of kind: String, known: [FilterWord]) -> String {
    let shown = FilterScanner.shown(name)
    if FilterWord.allCases.contains(where: { $0.rawValue == name }) {
      return "\(kind) cannot be selected by \"\(shown)\"; there are: \(known.map(\.rawValue).joined(separator: ", "))"
    }
    return "\"\(shown)\" is not a word of filters\(NearestName.hint(for: name, among: known.map(\.rawValue)))"
  }

  /// The terms with a word.
  func all(_ word: FilterWord) -> [FilterTerm] { terms.filter { $0.word == word }.map(\.term) }

  private func values(_ word: FilterWord) -> [FilterTerm.Value] { all(word).first?.values ?? [] }

  /// The values of a word that may occur once, as text.
  func texts(_ word: FilterWord) -> [String] { values(word).map(\.text) }

  /// The values of `state`: states, and ``RequestFilter/paused``. Pending includes claimed, which is shown as pending.
  func states() throws(FilterError) -> (states: [RequestState], paused: Bool) {
    let known = RequestState.allCases.filter { $0 != .claimed }
    let states = try named(.state, known.map { ($0.rawValue, Optional($0)) } + [(RequestFilter.paused, nil)])
    return (states.compactMap(\.self).flatMap { $0 == .pending ? [.pending, .claimed] : [$0] }, states.contains(nil))
  }

  /// The values of `outcome`.
  func outcomes() throws(FilterError) -> [RunOutcome] { try named(.outcome, RunOutcome.allCases.map { ($0.rawValue, $0) }) }

  private func named<Value>(_ word: FilterWord, _ names: [(name: String, value: Value)]) throws(FilterError) -> [Value] {
    try values(word).map { value throws(FilterError) in
      if let known = names.first(where: { $0.name == value.text }) { return known.value }
      let hint = NearestName.hint(for: value.text, among: names.map(\.name))
      throw FilterError(position: value.position, message: "there is no \(word.rawValue) \"\(FilterScanner.shown(value.text))\"\(hint)")
    }
  }

  /// The values of `identifier`.
  func identifiers() throws(FilterError) -> [IdentifierPattern] {
    try values(.identifier).map { value throws(FilterError) in
      do { return try IdentifierPattern(value.text) } catch {
        throw FilterError(position: value.position, message: "\(error); at its end, * stands for any rest")
      }
    }
  }

  /// The value of `id`.
  func id() throws(FilterError) -> RecordIDPrefix? {
    let values = values(.id)
    guard let value = values.first else { return nil }
    guard values.count == 1 else {
      throw FilterError(position: values[1].position, message: "id has one value: write \(FilterWord.id.example)")
    }
    if let prefix = RecordIDPrefix(value.text) { return prefix }
    throw FilterError(
      position: value.position,
      message: "no id begins with \"\(FilterScanner.shown(value.text))\": ids look like 01976c1e-0000-7000-8000-000000000000")
  }

  /// The values of `request`.
  func requests() throws(FilterError) -> [RequestID] {
    try values(.request).map { value throws(FilterError) in
      if let id = RequestID(value.text) { return id }
      throw FilterError(position: value.position, message: "\"\(FilterScanner.shown(value.text))\" is not the id of a request")
    }
  }

  /// The moment of `since` or `until`: a duration before `now`, or a time.
  func moment(_ word: FilterWord, now: WallTime) throws(FilterError) -> WallTime? {
    let values = values(word)
    guard let value = values.first else { return nil }
    guard values.count == 1 else {
      throw FilterError(position: values[1].position, message: "\(word.rawValue) has one value: write \(word.example)")
    }
    if let time = RFC3339.parse(value.text) { return time }
    let length: Int64
    do { length = try DurationFormat.milliseconds(of: value.text[...], units: DurationFormat.unitsWithWeeks) } catch {
      throw FilterError(
        position: value.position,
        message: "\"\(FilterScanner.shown(value.text))\" is not a moment: write how long ago, as 2h or 1d12h, or 2026-11-21T08:00:00Z")
    }
    return now + .milliseconds(-length)
  }
}
