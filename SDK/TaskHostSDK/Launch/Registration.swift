import CTaskHost

/// A plugin's static properties, within the ranges of `taskhost_registration`. The host performs further checks.
struct Registration {
  private let identifier: String
  private let kind: TaskKind
  private let displayName: String?
  private let version: String?
  private let budgetMilliseconds: UInt64
  private let maxConcurrentRuns: UInt32

  init<T: BackgroundTask>(_ type: T.Type) throws(Refusal) {
    if let budget = type.budget, budget <= .zero {
      throw Refusal(reason: "its budget is \(budget); give one above zero, or nil for the kind's")
    }
    guard let maxConcurrentRuns = UInt32(exactly: type.maxConcurrentRuns), 1...1024 ~= maxConcurrentRuns else {
      throw Refusal(reason: "its maxConcurrentRuns is \(type.maxConcurrentRuns); give 1 to 1024")
    }
    do {
      identifier = try CStrings.checked(type.identifier, "its identifier")
    } catch {
      throw Refusal(reason: error.message)
    }
    kind = type.kind
    displayName = type.displayName.map(CStrings.printable)
    version = type.version.map(CStrings.printable)
    budgetMilliseconds = type.budget?.millisecondsRoundedUp ?? 0
    self.maxConcurrentRuns = maxConcurrentRuns
  }

  /// Calls `body` with the registration as C sees it, valid during the call. `context` must live as long as the process.
  func withCValue<Result>(context: PluginEntry, _ body: (UnsafePointer<taskhost_registration>) -> Result) -> Result {
    identifier.withCString { cIdentifier in
      CStrings.with(displayName) { cDisplayName in
        CStrings.with(version) { cVersion in
          var registration = taskhost_registration()
          registration.struct_size = UInt32(MemoryLayout<taskhost_registration>.size)
          registration.kind = kind.cValue
          registration.identifier = cIdentifier
          registration.handler = PluginEntry.handler
          registration.context = Unmanaged.passUnretained(context).toOpaque()
          registration.display_name = cDisplayName
          registration.version = cVersion
          registration.budget_ms = budgetMilliseconds
          registration.max_concurrent_runs = maxConcurrentRuns
          return body(&registration)
        }
      }
    }
  }
}
