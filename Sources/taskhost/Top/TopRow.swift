/// A row of a table of `taskhost top`.
struct TopRow: Sendable {
  /// A cell: what is shown, and what the column is sorted by.
  struct Cell: Sendable {
    let text: String
    let key: SortKey
    /// Whether its text names a state, which is coloured.
    let isState: Bool
    /// Whether its end says more than its beginning, if there is no room for both.
    let keepsEnd: Bool

    /// A text, which is sorted as such.
    init(_ text: String, isState: Bool = false, keepsEnd: Bool = false) {
      self.text = text
      self.isState = isState
      self.keepsEnd = keepsEnd
      key = .text(text)
    }

    /// A text that is sorted by a number. Without a number, it comes last.
    init(_ text: String, by number: Int64?) {
      self.text = text
      (isState, keepsEnd) = (false, false)
      key = number.map { .number($0) } ?? .none
    }
  }

  /// Numbers come before texts, and both before nothing.
  enum SortKey: Comparable, Sendable {
    case number(Int64)
    case text(String)
    case none
  }

  /// What the row stands for. It stays when the table is read again, so that the selection does.
  let id: String
  /// The request that actions are for.
  var request: String?
  /// The run whose record and log are its details.
  var run: String?
  var identifier: String?
  let cells: [Cell]
  /// What its details say beside the host's records.
  var text: [String] = []
}
