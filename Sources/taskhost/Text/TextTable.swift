import TaskModel

/// Rows with aligned columns, separated by two blanks.
struct TextTable {
  private let header: [String]
  private var rows: [[String]] = []

  init(_ header: String...) { self.init(columns: header) }

  init(columns: [String]) { header = columns }

  /// Adds a row; control characters are escaped.
  mutating func add(_ cells: String...) { add(row: cells) }

  mutating func add(row: [String]) { rows.append(row.map(\.escapingControlCharacters)) }

  /// The lines; `colours` colours cells that name a state.
  func render(colours: Bool) -> [String] {
    let widths = header.indices.map { column in ([header] + rows).map { $0[column].count }.max() ?? 0 }
    return ([header] + rows).enumerated().map { index, row in
      var line = ""
      for (column, cell) in row.enumerated() {
        let painted = colours && index > 0 ? Colour(of: cell)?.paint(cell) ?? cell : cell
        line += painted
        let isLast = row[(column + 1)...].allSatisfy(\.isEmpty)
        if isLast { break }
        line += String(repeating: " ", count: widths[column] - cell.count + 2)
      }
      return line
    }
  }

  /// Writes the table to standard output, or `empty` to standard error if the table has no rows.
  func print(empty: String) {
    guard !rows.isEmpty else { return Terminal.note(empty) }
    for line in render(colours: Terminal.usesColours) { Terminal.print(line) }
  }
}

enum Colour: Int {
  case red = 31
  case green = 32
  case yellow = 33
  case blue = 34
  case cyan = 36
  case grey = 90

  /// The colour of a state, an outcome or a plugin's health; nil for none.
  init?(of word: String) {
    switch word {
    case "succeeded", "noop", "registered", "nothing to do", "yes": self = .green
    case "failed", "crashed", "refused", "expired", "quarantined": self = .red
    case "running", "launched": self = .blue
    case "retried", "snoozed", "stopped", "lost", "suspended", "held", "blocked", "draining", "no": self = .yellow
    case "cancelled", "never ran": self = .grey
    default: return nil
    }
  }

  func paint(_ text: String) -> String { "\u{1B}[\(rawValue)m\(text)\u{1B}[0m" }
}
