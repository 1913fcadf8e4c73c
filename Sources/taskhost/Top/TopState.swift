/// What `taskhost top` shows, and what keys do to it. A value that asks nobody and writes nothing: ``TopSession`` acts.
struct TopState {
  /// What a key asks for.
  enum Effect: Equatable {
    case none
    case quit
    case suspend
    /// The tables are to be read again: another one is shown, or its filter is another one.
    case read
    /// The details of the selected row are to be read.
    case details
    case perform(TopAction)
  }

  /// What the keys are for now.
  enum Mode: Equatable {
    case table
    case details(title: String, lines: [String])
    case help
    case filter(String)
    case confirm(TopAction, question: String)
  }

  /// How a table is shown.
  struct Table {
    var rows: [TopRow] = []
    var filter = ""
    /// The column that the rows are sorted by; nil: as they came.
    var sorted: Int?
    var isReversed = false
    /// The selected row's id.
    var selected: String?
    /// Whether the user chose that row: it then stays selected wherever it goes. Otherwise, and if it is gone, the place stays selected.
    var isChosen = false
    var place = 0
    /// The first row that is shown.
    var top = 0
  }

  private(set) var view = TopView.tasks
  private(set) var tables = Dictionary(uniqueKeysWithValues: TopView.allCases.map { ($0, Table()) })
  private(set) var mode = Mode.table
  var header: TopHeader?
  /// A line for the bottom: what an action did, or what is wrong with a filter. The next key removes it.
  var message: String?
  /// How far details or help are scrolled.
  private(set) var scrolled = 0
  /// How many rows fit on the screen.
  var page = 10 { didSet { follow() } }

  var table: Table {
    get { tables[view] ?? Table() }
    set { tables[view] = newValue }
  }

  /// The rows in their order, as far as the filter lets them through.
  var rows: [TopRow] { Self.rows(of: table, view) }

  var selected: TopRow? { rows.first { $0.id == table.selected } }

  /// Takes rows that were read.
  mutating func take(_ rows: [TopRow], of view: TopView) {
    tables[view]?.rows = rows
    follow()
  }

  /// Shows the details of the selected row.
  mutating func show(title: String, _ lines: [String]) {
    // Meanwhile another key may have been pressed.
    guard mode == .table else { return }
    mode = .details(title: title, lines: lines)
    scrolled = 0
  }

  mutating func press(_ key: Key) -> Effect {
    message = nil
    if key == .control("z") { return .suspend }
    if key == .control("c") { return .quit }
    switch mode {
    case .table: return pressInTable(key)
    case .details(_, let lines): return scroll(key, lines.count)
    case .help: return scroll(key, TopScreen.help.count)
    case .filter(let text): return type(key, text)
    case .confirm(let action, _):
      mode = .table
      if key == .character("y") || key == .character("Y") { return .perform(action) }
      message = "nothing was done"
      return .none
    }
  }

  private mutating func pressInTable(_ key: Key) -> Effect {
    switch key {
    case .character("q"): return .quit
    case .character("?"), .character("h"): (mode, scrolled) = (.help, 0)
    case .character("/"): mode = .filter(table.filter)
    case .escape where !table.filter.isEmpty: return filter("")
    case .character("1"), .character("2"), .character("3"), .character("4"):
      if case .character(let digit) = key, let view = TopView(rawValue: (digit.wholeNumberValue ?? 1) - 1) { return turn(to: view) }
    case .tab, .right: return turn(by: 1)
    case .backTab, .left: return turn(by: -1)
    case .up, .character("k"): move(to: table.place - 1)
    case .down, .character("j"): move(to: table.place + 1)
    case .pageUp, .control("b"): move(to: table.place - page)
    case .pageDown, .control("f"), .character(" "): move(to: table.place + page)
    case .home, .character("g"): move(to: 0)
    case .end, .character("G"): move(to: .max)
    case .character(">"), .character("."): sort(by: 1)
    case .character("<"), .character(","): sort(by: -1)
    case .character("s"):
      table.isReversed.toggle()
      follow()
    case .enter where selected != nil: return .details
    case .control("l"): return .read
    case .character(let letter):
      guard let action = TopAction(rawValue: letter), let row = selected else { break }
      guard let question = action.question(row) else {
        message = "this row has no such action"
        break
      }
      mode = .confirm(action, question: question)
    default: break
    }
    return .none
  }

  private mutating func turn(by step: Int) -> Effect {
    let views = TopView.allCases
    return turn(to: views[(view.rawValue + step + views.count) % views.count])
  }

  private mutating func turn(to view: TopView) -> Effect {
    self.view = view
    follow()
    return .read
  }

  /// Sorts by the next column or the one before. Before the first column comes the order in which the host lists.
  private mutating func sort(by step: Int) {
    let count = view.columns.count + 1
    let column = ((table.sorted.map { $0 + 1 } ?? 0) + step + count) % count
    table.sorted = column == 0 ? nil : column - 1
    follow()
  }

  private mutating func move(to place: Int) {
    let rows = rows
    guard !rows.isEmpty else { return }
    table.place = min(max(0, place), rows.count - 1)
    (table.selected, table.isChosen) = (rows[table.place].id, true)
    follow()
  }

  /// Finds the selection again, and keeps it on the screen.
  private mutating func follow() {
    let rows = rows
    var table = table
    if table.isChosen, let place = rows.firstIndex(where: { $0.id == table.selected }) { table.place = place }
    table.place = max(0, min(table.place, rows.count - 1))
    table.selected = rows.isEmpty ? nil : rows[table.place].id
    table.top = max(0, min(table.top, rows.count - page))
    if table.place < table.top { table.top = table.place }
    if table.place >= table.top + page { table.top = table.place - page + 1 }
    self.table = table
  }

  private mutating func scroll(_ key: Key, _ count: Int) -> Effect {
    let last = max(0, count - page)
    switch key {
    case .up, .character("k"): scrolled -= 1
    case .down, .character("j"): scrolled += 1
    case .pageUp, .control("b"): scrolled -= page
    case .pageDown, .control("f"), .character(" "): scrolled += page
    case .home, .character("g"): scrolled = 0
    case .end, .character("G"): scrolled = last
    case .escape, .enter, .backspace, .left, .character("q"), .character("?"):
      (mode, scrolled) = (.table, 0)
      return .none
    default: break
    }
    scrolled = max(0, min(scrolled, last))
    return .none
  }

  private mutating func type(_ key: Key, _ text: String) -> Effect {
    switch key {
    case .enter:
      mode = .table
      return filter(text)
    case .escape: mode = .table
    case .backspace: mode = .filter(String(text.dropLast()))
    case .control("u"): mode = .filter("")
    case .character(let letter) where text.utf8.count < 1000: mode = .filter(text + String(letter))
    default: break
    }
    return .none
  }

  private mutating func filter(_ text: String) -> Effect {
    table.filter = text.trimming(while: { $0 == " " })
    follow()
    return .read
  }

  private static func rows(of table: Table, _ view: TopView) -> [TopRow] {
    var rows = table.rows
    if !view.takesFilter, !table.filter.isEmpty {
      rows = rows.filter { row in row.cells.contains { $0.text.lowercased().contains(table.filter.lowercased()) } }
    }
    if let column = table.sorted {
      // Equal rows stay in the host's order.
      let keyed = rows.enumerated().sorted { left, right in
        let (one, other) = (left.element.cells[column].key, right.element.cells[column].key)
        return one == other ? left.offset < right.offset : one < other
      }
      rows = keyed.map(\.element)
    }
    return table.isReversed ? rows.reversed() : rows
  }
}

extension String {
  fileprivate func trimming(while isBlank: (Character) -> Bool) -> String {
    String(drop(while: isBlank).reversed().drop(while: isBlank).reversed())
  }
}
