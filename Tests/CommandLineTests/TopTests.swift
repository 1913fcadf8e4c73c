import Testing

@testable import taskhost

/// `taskhost top` without a terminal: keys from bytes, what keys do, and what is drawn.
@Suite("top") struct TopTests {
  private func row(_ id: String, _ name: String, _ number: Int64? = nil, request: String? = nil) -> TopRow {
    let cells = ["-", "succeeded", "-", "-", "-", "-", ""].map { TopRow.Cell($0, isState: true) }
    let key = number.map { TopRow.Cell("\($0)", by: $0) }
    return TopRow(
      id: id, request: request, identifier: name,
      cells: [TopRow.Cell(name, keepsEnd: true)] + (key.map { [$0] + cells.dropFirst() } ?? cells))
  }

  private func state(_ rows: [TopRow], page: Int = 10) -> TopState {
    var state = TopState()
    state.page = page
    state.take(rows, of: .tasks)
    return state
  }

  /// The lines without colours.
  private func plain(_ lines: [String]) -> [String] { lines.map { $0.replacing(/\u{1B}\[[0-9]*m/, with: "") } }

  private func lines(_ state: TopState, columns: Int = 80, rows: Int = 24) -> [String] {
    plain(TopScreen(columns: columns, rows: rows, usesColours: true, now: 1_795_551_333_000).lines(state))
  }

  @Test("keys come from bytes in any pieces; an escape alone is one when nothing follows; unknown sequences are none")
  func keys() {
    let bytes: [UInt8] = Array("a\u{1B}[A\u{1B}[6~ü\r\u{7F}\u{3}\u{1B}[99;5Q\u{1B}OH\u{1B}[Z".utf8)
    let wanted: [Key] = [.character("a"), .up, .pageDown, .character("ü"), .enter, .backspace, .control("c"), .home, .backTab]
    var whole = KeyParser()
    #expect(whole.feed(bytes) == wanted)
    #expect(!whole.isWaiting)
    var parts = KeyParser()
    #expect(bytes.flatMap { parts.feed([$0]) } == wanted)
    var escape = KeyParser()
    #expect(escape.feed([0x1B]).isEmpty && escape.isWaiting)
    #expect(escape.flush() == [.escape] && !escape.isWaiting)
    var noise = KeyParser()
    #expect(noise.feed([0xFF, 0xC3, 0x28] + Array("\u{1B}[1111111111111111111111111111111111".utf8)).allSatisfy { $0 == .character("(") })
    #expect(noise.feed(Array("mq".utf8)).last == .character("q"), "what never ends is dropped")
  }

  @Test("the selection stays on the row that was chosen, wherever it goes; unchosen, it stays at its place")
  func selection() {
    var state = state([row("1", "a"), row("2", "b"), row("3", "c")])
    state.take([row("0", "z"), row("1", "a"), row("2", "b"), row("3", "c")], of: .tasks)
    #expect(state.selected?.id == "0", "nobody chose a row")
    #expect(state.press(.down) == .none)
    state.take([row("9", "y"), row("0", "z"), row("1", "a"), row("2", "b")], of: .tasks)
    #expect(state.selected?.id == "1" && state.table.place == 2)
    state.take([row("9", "y"), row("0", "z")], of: .tasks)
    #expect(state.selected?.id == "0", "the chosen row is gone: the place, or the last row")
    state.take([], of: .tasks)
    #expect(state.selected == nil && state.press(.enter) == .none)
  }

  @Test("the selected row is on the screen, at any size and after any keys")
  func scrolling() {
    var generator = SystemRandomNumberGenerator()
    var state = state((0..<50).map { row("\($0)", "task\($0)") }, page: 7)
    let keys: [Key] = [.down, .up, .pageDown, .pageUp, .home, .end, .character(">"), .character("s"), .tab, .backTab]
    for _ in 0..<2000 {
      _ = state.press(keys.randomElement(using: &generator) ?? .down)
      if Bool.random(using: &generator) { state.page = Int.random(in: 1...60, using: &generator) }
      let table = state.table
      guard !state.rows.isEmpty else { continue }
      #expect(table.top >= 0 && table.place >= table.top && table.place < table.top + state.page)
    }
  }

  @Test("an action asks first: y does it, every other key does nothing")
  func confirmation() {
    var state = state([row("1", "a", request: "01a20f3f-5c85-7000-a791-ed66131c3a71")])
    #expect(state.press(.character("c")) == .none)
    #expect(lines(state).last?.contains("Cancel request 01a20f3f-5c85 of a? y/n") == true)
    #expect(state.press(.character("y")) == .perform(.cancel))
    #expect(state.press(.character("c")) == .none)
    #expect(state.press(.enter) == .none)
    #expect(lines(state).last?.contains("nothing was done") == true)
    #expect(TopAction.cancel.call(state.rows[0]).path == "/v1/requests/01a20f3f-5c85-7000-a791-ed66131c3a71")
    // A row without a request has nothing to cancel.
    var other = self.state([row("1", "a")])
    #expect(other.press(.character("c")) == .none && other.mode == .table)
    #expect(other.press(.character("x")) == .none && other.mode != .table)
  }

  @Test("sorts by a column, numbers as numbers, and back to the host's order")
  func sorting() {
    var state = state([row("1", "b", 10), row("2", "a", 9), row("3", "c", 100)])
    _ = state.press(.character(">"))
    #expect(state.rows.map(\.id) == ["2", "1", "3"])
    _ = state.press(.character(">"))
    #expect(state.rows.map(\.id) == ["2", "1", "3"], "9, 10, 100")
    _ = state.press(.character("s"))
    #expect(state.rows.map(\.id) == ["3", "1", "2"])
    _ = state.press(.character("s"))
    _ = state.press(.character("<"))
    _ = state.press(.character("<"))
    #expect(state.rows.map(\.id) == ["1", "2", "3"])
  }

  @Test("a filter is typed, used and removed; of tasks it is a part of what a row shows")
  func filter() {
    var state = state([row("1", "backup.nightly"), row("2", "report")])
    for key: Key in [.character("/"), .character("N"), .character("x"), .backspace] { #expect(state.press(key) == .none) }
    #expect(lines(state).last?.contains("filter: N_") == true)
    #expect(state.press(.enter) == .read)
    #expect(state.rows.map(\.id) == ["1"])
    #expect(lines(state)[2].contains("filter: N"))
    #expect(state.press(.escape) == .read)
    #expect(state.rows.count == 2)
  }

  @Test(
    "every line fits the screen exactly as wide as it is, whatever the texts and the size",
    arguments: [(80, 24), (40, 8), (200, 60), (20, 5)])
  func fits(_ columns: Int, _ rows: Int) {
    let names = ["org.taskhost.samples.a-very-long-identifier-indeed.nightly", "日本語の識別子日本語の識別子日本語の識別子", "e\u{301}tude", ""]
    var state = state(names.enumerated().map { row("\($0)", $1, request: "r") }, page: max(1, rows - TopScreen.frame))
    let usual = lines(state, columns: 80)
    #expect(usual.contains { $0.contains("…") && $0.contains("nightly") }, "the end of an identifier is kept")
    #expect(usual.contains { $0.contains("SCHEDULE") && $0.contains("MESSAGE") }, "\(usual)")
    for _ in 0..<5 {
      for key: Key? in [nil, .character("?"), .character("q"), .character("/"), .escape, .character("c"), .escape] {
        if let key { _ = state.press(key) }
        let lines = lines(state, columns: columns, rows: rows)
        #expect(lines.count == rows)
        for line in lines { #expect(DisplayWidth.of(line) <= columns, "\(line)") }
      }
      _ = state.press(.tab)
    }
  }

  @Test("short ids are as long as it takes to tell them apart")
  func shortIDs() {
    let ids = ["01a20f3f-5c85-7000-a791-ed66131c3a71", "01a20f3f-5c85-7001-a791-ed66131c3a71", "01a20f40-0000-7000-a791-ed66131c3a71"]
    #expect(ShortIDText.length(of: ids) == 18)
    #expect(ShortIDText.length(of: [ids[0], ids[2], ids[0]]) == 13)
    #expect(ShortIDText.length(of: [] as [String]) == 13)
  }

  @Test("texts are cut, padded and wrapped by columns, not by characters")
  func widths() {
    #expect(DisplayWidth.of("日本") == 4 && DisplayWidth.of("e\u{301}") == 1 && DisplayWidth.of("👨‍👩‍👧") == 2)
    #expect(DisplayWidth.fit("日本語", 5) == "日本…")
    #expect(DisplayWidth.fit("日本語", 4) == "日… ")
    #expect(DisplayWidth.fit("abcdef", 4, keepsEnd: true) == "…def")
    #expect(DisplayWidth.fit("ab", 4) == "ab  ")
    #expect(DisplayWidth.wrap("one two three", 8) == ["one two", "three"])
    #expect(DisplayWidth.wrap("abcdefghij", 4) == ["abcd", "efgh", "ij"])
  }
}
