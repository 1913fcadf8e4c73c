import TaskModel

/// Rows with aligned columns, two blanks between them.
struct TextTable {
  private let header: [String]
  private var rows: [[String]] = []

  /// A table with these headings.
  init(_ header: String...) { self.init(columns: header) }

  /// The same.
  init(columns: [String]) { header = columns }

  /// Adds a row; control characters are escaped.
  mutating func add(_ cells: String...) { add(row: cells) }

  /// The same; a cell for each column.
  mutating func add(row: [String]) { rows.append(row.map(\.escapingControlCharacters)) }

  /// The lines. Cells that are a state are coloured where `colours` is set.
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

  /// Writes the table to standard output; `empty` instead when it has no rows.
  func print(empty: String) {
    guard !rows.isEmpty else { return Terminal.note(empty) }
    for line in render(colours: Terminal.usesColours) { Terminal.print(line) }
  }
}
