import HostThreads
import StrictText
import TaskHostClient
import TaskModel

/// Runs `taskhost top`: takes keys, asks the host, draws.
struct TopSession {
  /// What moves the screen.
  private enum Event: Sendable {
    case input(RawTerminal.Input)
    case read(TopReading)
    case details(title: String, [String])
    case told(String)
    case tick
    case failed(any Error)
  }

  /// The most rows of a table, and the most lines of a log in the details.
  static let rows = 500
  static let logLines = 200
  /// The least time between two readings of the tables.
  private static let pause = Duration.milliseconds(300)

  let client: ControlClient
  let terminal: RawTerminal

  /// Returns when the user quits. The terminal is then as it was.
  func run() async throws {
    // Before the terminal is taken: an error here is a line as of any command.
    let changes = try await client.subscribe()
    let (events, told) = AsyncStream<Event>.makeStream()
    let inputs = try terminal.inputs()
    terminal.enter()
    defer { terminal.leave() }
    let (due, ask) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    let wanted = Guarded<TopReading.Wanted>(TopReading.Wanted(view: .tasks, filter: ""))
    try await withThrowingTaskGroup { group in
      group.addTask { for await input in inputs { told.yield(.input(input)) } }
      group.addTask {
        do {
          for try await _ in changes { ask.yield() }
          told.yield(.failed(client.gone))
        } catch { told.yield(.failed(client.gone)) }
      }
      group.addTask { await read(due, wanted, told) }
      // Times are shown relative to now.
      group.addTask {
        while !Task.isCancelled {
          try? await Task.sleep(for: .seconds(1))
          told.yield(.tick)
        }
      }
      ask.yield()
      defer { group.cancelAll() }
      try await show(events, told, ask, wanted)
    }
  }

  /// Reads the shown table whenever it is due, and not more often than the host and the eye can bear.
  private func read(_ due: AsyncStream<Void>, _ wanted: Guarded<TopReading.Wanted>, _ told: AsyncStream<Event>.Continuation) async {
    for await _ in due {
      let began = SystemClock.now
      do { told.yield(.read(try await TopReading.read(wanted.withLock { $0 }, client))) } catch { told.yield(.failed(error)) }
      let took = SystemClock.now - began
      try? await Task.sleep(for: max(Self.pause, took + took))
    }
  }

  private func show(
    _ events: AsyncStream<Event>, _ told: AsyncStream<Event>.Continuation, _ ask: AsyncStream<Void>.Continuation,
    _ wanted: Guarded<TopReading.Wanted>
  ) async throws {
    var state = TopState()
    draw(&state)
    for await event in events {
      switch event {
      case .tick: break
      case .read(let reading): reading.apply(to: &state, now: MomentText.now)
      case .details(let title, let lines): state.show(title: title, TopScreen(terminal.size, MomentText.now).wrap(lines))
      case .told(let text):
        state.message = text
        ask.yield()
      case .failed(let error):
        let known = error as? CommandFailure ?? (error as? TaskHostError).map { CommandFailure($0) }
        guard let failure = known, failure.status == .refused else { throw error }
        // A wrong filter, or an action that the host refuses.
        state.message = failure.why
      case .input(.ended): return
      case .input(.resized): break
      case .input(.key(let key)):
        let row = state.selected
        switch state.press(key) {
        case .quit: return
        case .suspend: terminal.suspend()
        case .read:
          wanted.withLock { [view = state.view, filter = state.table.filter] in $0 = TopReading.Wanted(view: view, filter: filter) }
          ask.yield()
        case .details: if let row { act(told) { try await details(of: row) } }
        case .perform(let action): if let row { act(told) { try await perform(action, row) } }
        case .none: break
        }
      }
      draw(&state)
    }
  }

  private func draw(_ state: inout TopState) {
    let screen = TopScreen(terminal.size, MomentText.now)
    state.page = max(1, screen.rows - TopScreen.frame)
    terminal.draw(screen.lines(state))
  }

  /// Asks the host without keeping the screen waiting.
  private func act(_ told: AsyncStream<Event>.Continuation, _ body: @escaping @Sendable () async throws -> Event) {
    Task { do { told.yield(try await body()) } catch { told.yield(.failed(error)) } }
  }

  private func perform(_ action: TopAction, _ row: TopRow) async throws -> Event {
    let (method, path, body) = action.call(row)
    _ = try await client.send(method, path, body)
    return .told("\(row.identifier ?? row.id): \(action.done)")
  }

  private func details(of row: TopRow) async throws -> Event {
    var lines = row.text
    var run = row.run
    if let request = row.request {
      let path = "/v1/requests/\(ControlClient.escape(request))"
      if run == nil {
        lines += FieldList(try await client.get(path)).render() + [""]
        lines += TasksWhyCommand.lines(try await client.get("\(path)/why").read(), now: MomentText.now) + [""]
        run = try await client.get(ControlClient.path("/v1/runs", [("request", request), ("limit", "1")])).read(RunPage.self).runs.first?.id
      }
    } else if let identifier = row.identifier {
      let query = [("identifier", identifier), ("limit", "1")]
      run = try await client.get(ControlClient.path("/v1/runs", query)).read(RunPage.self).runs.first?.id
      if run == nil { lines.append("it has not run, or its history is gone") }
    }
    if let run {
      let path = "/v1/runs/\(ControlClient.escape(run))"
      lines += [row.run == nil ? "the last run" : "the run", ""] + FieldList(try await client.get(path)).render() + [""]
      let log = try await client.get("\(path)/logs").read(LogAnswer.self).lines
      lines += log.suffix(Self.logLines).map { RunsLogsCommand.text($0.value) }
    }
    return .details(title: row.identifier ?? "Problem", lines)
  }
}

extension TopScreen {
  init(_ size: (columns: Int, rows: Int), _ now: Int64) {
    self.init(columns: size.columns, rows: max(3, size.rows), usesColours: Terminal.usesColours, now: now)
  }
}
