import TaskModel

/// Rows with aligned columns, separated by two blanks. At a terminal, a row takes one line: long cells are cut. Files and pipes get whole cells.
struct TextTable {
  /// A column, and how its cells are cut where they have too little room.
  struct Column: ExpressibleByStringLiteral {
    enum Kind {
      /// Cut at the end.
      case text
      /// Cut at the beginning: identifiers and paths begin alike.
      case name
      /// Shortened to a beginning that tells the ids of the column apart; never cut.
      case id
    }

    let title: String
    var kind = Kind.text

    init(stringLiteral title: String) { self.title = title }

    static func name(_ title: String) -> Column { Column(title, .name) }
    static func id(_ title: String) -> Column { Column(title, .id) }

    private init(_ title: String, _ kind: Kind) { (self.title, self.kind) = (title, kind) }
  }

  /// What stands between two columns.
  private static let gap = 2
  /// Columns are cut to these widths at most, the second only if the first does not suffice.
  private static let leastWidths = [8, 4]

  private let columns: [Column]
  private var rows: [[String]] = []

  init(_ columns: Column...) { self.init(columns: columns) }

  init(columns: [Column]) { self.columns = columns }

  /// Adds a row; control characters are escaped.
  mutating func add(_ cells: String...) { add(row: cells) }

  mutating func add(row: [String]) { rows.append(row.map(\.escapingControlCharacters)) }

  /// The lines.
  ///
  /// - Parameters:
  ///   - room: The columns of a terminal that each line fits into; nil for whole cells.
  ///   - colours: Whether to colour cells that name a state.
  func render(fitting room: Int? = nil, colours: Bool) -> [String] {
    let rows = room == nil ? self.rows : shorteningIDs()
    let titles = columns.map(\.title)
    var widths = columns.indices.map { column in ([titles] + rows).map { DisplayWidth.of($0[column]) }.max() ?? 0 }
    if let room { fit(&widths, into: room) }
    // A terminal that is too narrow even so gets the first columns.
    let lastShown =
      room.map { room in
        widths.indices.last { widths[...$0].reduce(0, +) + Self.gap * $0 <= room } ?? 0
      } ?? widths.count - 1
    return ([titles] + rows.map { Array($0.prefix(lastShown + 1)) }).enumerated().map { index, row in
      let row = row.prefix(lastShown + 1)
      var line = ""
      for (column, cell) in row.enumerated() {
        let keepsEnd = index > 0 && columns[column].kind == .name
        let shown = DisplayWidth.of(cell) <= widths[column] ? cell : DisplayWidth.fit(cell, widths[column], keepsEnd: keepsEnd)
        line += colours && index > 0 ? Colour(of: cell)?.paint(shown) ?? shown : shown
        let isLast = row[(column + 1)...].allSatisfy(\.isEmpty)
        if isLast { break }
        line += String(repeating: " ", count: widths[column] - DisplayWidth.of(shown) + Self.gap)
      }
      return line
    }
  }

  /// The rows with ids that are as short as commands take them.
  private func shorteningIDs() -> [[String]] {
    var rows = rows
    for (column, description) in columns.enumerated() where description.kind == .id {
      let length = ShortIDText.length(of: rows.map { $0[column] })
      for index in rows.indices { rows[index][column] = String(rows[index][column].prefix(length)) }
    }
    return rows
  }

  /// Takes from the widest column as long as the lines are too long.
  private func fit(_ widths: inout [Int], into room: Int) {
    var excess = widths.reduce(0, +) + Self.gap * (widths.count - 1) - room
    for least in Self.leastWidths {
      while excess > 0 {
        let candidates = widths.indices.filter { columns[$0].kind != .id && widths[$0] > least }
        guard let widest = candidates.max(by: { widths[$0] < widths[$1] }) else { break }
        widths[widest] -= 1
        excess -= 1
      }
    }
  }

  /// Writes the table to standard output, or `empty` to standard error if the table has no rows.
  func print(empty: String) {
    guard !rows.isEmpty else { return Terminal.note(empty) }
    for line in render(fitting: Terminal.outputColumns, colours: Terminal.usesColours) { Terminal.print(line) }
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
    case "failed", "crashed", "refused", "unapproved", "expired", "quarantined": self = .red
    case "running", "launched": self = .blue
    case "retried", "snoozed", "stopped", "lost", "suspended", "held", "blocked", "draining", "no": self = .yellow
    case "cancelled", "never ran": self = .grey
    default: return nil
    }
  }

  func paint(_ text: String) -> String { "\u{1B}[\(rawValue)m\(text)\u{1B}[0m" }
}
