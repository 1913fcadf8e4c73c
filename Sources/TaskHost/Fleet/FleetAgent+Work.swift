import FleetStore
import TaskModel
import TaskScheduler

// What waits for the agent's threads.

extension FleetAgent {
  /// Requests on their way into the fleet, all or none.
  struct Arrival {
    let submissions: [FleetSubmission]
    let completion: @Sendable (Result<[Submission], RequestRefusal>) -> Void

    var hasKeys: Bool { submissions.contains { $0.record.request.uniqueKey != nil || $0.record.request.idempotencyKey != nil } }
  }

  /// What the thread that looks has to do.
  struct Work {
    /// What is to be added here, and how many requests have just been added that are due soon.
    var arrivals: [Arrival] = []
    var added = 0
    var errands: [FleetErrand] = []
    var settled: [Ended] = []
    var isOver = false
    /// Whether somebody wants the database to be looked at. Work may be here before its waking is.
    var mustLook = false

    /// Whether there is a reason to look at the database now. What was submitted is none, unless it is due soon.
    var isAsked: Bool { mustLook || isOver || !settled.isEmpty }
  }
}
