import CalendarTime
import TaskModel

/// Draws a ``TopState`` as the lines of a screen.
struct TopScreen {
  let columns: Int
  let rows: Int
  let usesColours: Bool
  /// Milliseconds since 1970.
  let now: Int64

  /// The lines around a table: the host, its counts, the names of the tables, the columns, and the keys at the bottom.
  static let frame = 5

  static let help = [
    "1 2 3 4, tab     the tables: tasks, runs, requests, problems",
    "up down, j k     select a row; page up, page down, home, end",
    "enter            details: the record, why it waits, the log",
    "/                filter. Of runs and requests as in taskhost tasks list:",
    "                 state:failed identifier:com.example.* since:2h",
    "                 Of tasks and problems, a part of what the row shows.",
    "escape           no filter",
    "< >              sort by another column; s: the other way round",
    "c                cancel the request          r   run a failed one again",
    "z                postpone it by 15 minutes   d   discard a failed one",
    "x                run the identifier now",
    "control-L        read again                  control-Z  suspend",
    "q                back, quit",
    "",
    "Every action asks first. What changes at the host is shown at once.",
  ]

  /// As many lines as the screen has. They contain colours.
  func lines(_ state: TopState) -> [String] {
    var lines: [String]
    switch state.mode {
    case .details(let title, let text): lines = [inverse(title)] + scrolled(text, state)
    case .help: lines = [inverse("Keys of taskhost top")] + scrolled(Self.help, state)
    default: lines = head(state) + table(state)
    }
    lines = Array(lines.prefix(rows - 1))
    lines += Array(repeating: "", count: max(0, rows - 1 - lines.count))
    return lines + [bottom(state)]
  }

  /// `lines` in the width of the screen, as details are.
  func wrap(_ lines: [String]) -> [String] { lines.flatMap { DisplayWidth.wrap($0, columns) } }

  private func scrolled(_ text: [String], _ state: TopState) -> [String] {
    text.dropFirst(state.scrolled).prefix(rows - 2).map { fit($0) }
  }

  private func head(_ state: TopState) -> [String] {
    let clock = MomentFormat.clock(now)
    guard let header = state.header else { return [fit("taskhost: reading"), "", tabs(state)] }
    let started = MomentFormat.relative(header.startedUnixMs, now: now)
    let title = "taskhost \(header.version)  \(header.phase)  started \(started)".escapingControlCharacters
    let room = max(0, columns - clock.count)
    let counts = header.requests
    let problems = state.tables[.problems]?.rows ?? []
    let urgent = problems.count { $0.cells.first?.text == "!" }
    let sum =
      "runs \(header.running) of \(header.maxConcurrentRuns)  requests: \(counts.pending) pending, \(counts.blocked) blocked,"
      + " \(counts.failed) failed  problems: \(problems.count)" + (urgent > 0 ? " (\(urgent)!)" : "")
    return [
      DisplayWidth.fit(title, room) + clock, urgent > 0 ? paint(fit(sum), .red) : fit(sum), tabs(state),
    ]
  }

  private func tabs(_ state: TopState) -> String {
    var names = TopView.allCases.map { (isShown: $0 == state.view, name: " \($0.rawValue + 1) \($0.title) ") }
    // On a narrow screen, only the shown one has a name.
    if names.reduce(0, { $0 + $1.name.count }) > columns { names = names.map { $0.isShown ? $0 : (false, String($0.name.prefix(3))) } }
    guard names.reduce(0, { $0 + $1.name.count }) <= columns else { return inverse(state.view.title) }
    let table = state.table
    let order = table.sorted.map { "by \(state.view.columns[$0].lowercased())" } ?? (table.isReversed ? "last first" : "")
    let facts = [
      table.filter.isEmpty ? nil : "filter: \(table.filter.escapingControlCharacters)",
      order.isEmpty ? nil : order + (table.isReversed && table.sorted != nil ? ", reversed" : ""),
    ].compactMap(\.self)
    let width = names.reduce(0) { $0 + $1.name.count }
    let text = names.map { $0.isShown ? "\u{1B}[7m\($0.name)\u{1B}[0m" : $0.name }.joined()
    return text + DisplayWidth.fit("  " + facts.joined(separator: "   "), max(0, columns - width))
  }

  private func table(_ state: TopState) -> [String] {
    let rows = state.rows
    let titles = state.view.columns
    let shown = rows.dropFirst(state.table.top).prefix(state.page)
    let widths = widths(titles, rows: Array(shown), state.view)
    let head = titles.enumerated().map { column, title in
      column == state.table.sorted ? title + (state.table.isReversed ? "^" : "v") : title
    }
    var lines = [inverse(line(head.map { TopRow.Cell($0) }, widths))]
    if rows.isEmpty { lines.append(fit(state.header == nil ? "" : "  nothing here")) }
    for row in shown {
      let isSelected = row.id == state.table.selected
      let text = line(row.cells, widths, mark: isSelected ? ">" : " ", paints: !isSelected)
      lines.append(isSelected ? inverse(text) : text)
    }
    return lines
  }

  /// The widths of the columns, so that the row fits: flexible ones give way, then some are left out, with width 0.
  private func widths(_ titles: [String], rows: [TopRow], _ view: TopView) -> [Int] {
    // A title has room for the mark of the order.
    let natural = titles.indices.map { column in
      max(titles[column].count + 1, rows.map { DisplayWidth.of($0.cells[column].text) }.max() ?? 0)
    }
    var widths = natural.enumerated().map { column, width in min(width, view.flexible[column] ?? width) }
    // The mark of the selection, and two blanks between columns.
    func room() -> Int { columns - 1 - widths.reduce(0, +) - 2 * (widths.count { $0 > 0 } - 1) }
    for column in view.dispensable where room() < 0 { widths[column] = 0 }
    for column in view.flexible.keys.sorted() where widths[column] > 0 {
      widths[column] = max(1, min(natural[column], widths[column] + room()))
    }
    return widths
  }

  private func line(_ cells: [TopRow.Cell], _ widths: [Int], mark: String = " ", paints: Bool = false) -> String {
    var (line, used) = (mark, 1)
    for (cell, width) in zip(cells, widths) where width > 0 {
      if used > 1 { (line, used) = (line + "  ", used + 2) }
      let text = DisplayWidth.fit(cell.text, width, keepsEnd: cell.keepsEnd)
      line += (paints && cell.isState ? Colour(of: cell.text) : nil).map { paint(text, $0) } ?? text
      used += width
    }
    return line + String(repeating: " ", count: max(0, columns - used))
  }

  private func bottom(_ state: TopState) -> String {
    switch state.mode {
    case .filter(let text): return fit("filter: \(text.escapingControlCharacters)_   enter: use it   escape: leave it")
    case .confirm(_, let question): return paint(fit("\(question.escapingControlCharacters) y/n"), .yellow)
    case .details, .help: return inverse("q back   up down scroll")
    case .table:
      if let message = state.message { return fit(message.escapingControlCharacters) }
      return inverse("q quit  ? keys  / filter  < > sort  enter details  c cancel  r retry  x run now")
    }
  }

  private func fit(_ text: String) -> String { DisplayWidth.fit(text, columns) }
  private func inverse(_ text: String) -> String { "\u{1B}[7m\(fit(text))\u{1B}[0m" }
  private func paint(_ text: String, _ colour: Colour) -> String { usesColours ? colour.paint(text) : text }
}
