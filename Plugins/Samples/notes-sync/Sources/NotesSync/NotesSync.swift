import TaskHostSDK

/// Keeps copies of a folder of notes: a small offline-first application.
///
/// - A **full pass** goes over all notes with ``TaskContext/forEach``. It stops early, by its budget or before the run expires, and the
///   next run continues from there, even after a crash.
/// - **Changes** are only recorded at first. When they pause, one run copies the changed notes: coalesced triggers.
struct NotesSync: BackgroundTask {
  static let identifier = "org.taskhost.samples.notes-sync"
  static let kind = TaskKind.processing
  static let displayName: String? = "Notes sync"
  static let version: String? = "1.0.0"

  private let dataDirectory: String
  private let budget: WorkBudget
  private let window: CoalescingWindow

  init(_ launch: LaunchContext<Settings>) {
    // No I/O here: the host also launches a plugin only to see what it registers.
    dataDirectory = launch.dataDirectory
    budget = WorkBudget(items: launch.settings.notesPerRun ?? 200, time: .seconds(60), bytes: 10_000_000)
    window = CoalescingWindow(debounce: .milliseconds(launch.settings.quietMilliseconds ?? 2_000), maximumDelay: .seconds(30))
  }

  func run(_ task: TaskContext<Payload>) async throws -> TaskResult {
    let folder = try NoteFolder(dataDirectory)
    let request = try TaskRequest(identifier: task.identifier, json: Payload(drain: true))
    let changes = task.triggers("changed", window: window, drainedBy: request)

    if let changed = task.payload.changed {
      // The change is durable when this returns. If this throws, the run is retried, so no change is lost.
      try changes.add(changed)
      return .success
    }
    if task.payload.drain == true {
      var copied = 0
      let result = try await changes.drain(budget: budget) { change, meter in
        switch change {
        case .key(let name):
          task.logger.info("copying a changed note", metadata: ["name": "\(name)"])
          meter.spend(bytesOut: try folder.synchronize(name))
          copied += 1
        case .everything:
          try task.syncNow(TaskRequest(identifier: task.identifier, uniqueKey: "full"))
        }
      }
      try task.setOutput(["copied": copied])
      return result
    }
    return try await fullPass(folder, task)
  }

  private func fullPass(_ folder: NoteFolder, _ task: TaskContext<Payload>) async throws -> TaskResult {
    // By name, so that notes added or removed between two runs of the pass do not shift its place.
    let result = try await task.forEach(try folder.names(), by: .key(\.self), budget: budget) { name, meter in
      meter.spend(bytesOut: try folder.synchronize(name))
    }
    task.setMessage("\(result)")
    try task.setOutput(["notes": result.completed + result.skipped])
    return result.taskResult  // snooze if there is more to do: no attempt is spent
  }
}
