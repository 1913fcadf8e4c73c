import FleetStore
import TaskModel
import TaskScheduler

// What waits for the agent's threads.

extension FleetAgent {
  /// How many of `count` values one transaction sends: no more bytes than the database can take in time, but at least one value.
  static func countTogether(_ count: Int, bytes: (Int) -> Int) -> Int {
    var sum = 0
    let end = (0..<count).first { place in
      sum += bytes(place)
      return place > 0 && sum > mostTogether
    }
    return end ?? count
  }
  private static let mostTogether = 16 << 20

  /// Requests on their way into the fleet, all or none.
  struct Arrival {
    /// As they were submitted, and as they were checked.
    let submitted: [TaskRequest]
    let submissions: [FleetSubmission]
    /// The plugin that has submitted them; nil for a client.
    let plugin: TaskIdentifier?
    /// Whether some of them have unique or idempotency keys.
    let hasKeys: Bool
    /// Of their payloads.
    let bytes: Int
    let completion: @Sendable (Result<[Submission], RequestRefusal>) -> Void

    init(
      _ submitted: [TaskRequest], _ submissions: [FleetSubmission], by plugin: TaskIdentifier?,
      completion: @escaping @Sendable (Result<[Submission], RequestRefusal>) -> Void
    ) {
      (self.submitted, self.submissions, self.plugin, self.completion) = (submitted, submissions, plugin, completion)
      // By their places, here and in `FleetWriter`: they are large, and each one that is handed to a closure is copied.
      hasKeys = submissions.indices.contains { submissions[$0].record.request.hasKeys }
      bytes = submissions.indices.reduce(0) { $0 + submissions[$1].record.request.payload.count }
    }
  }

  /// What the thread that looks has to do.
  struct Work {
    /// What is to be added here, and how many requests have just been added that are due soon.
    var arrivals: [Arrival] = []
    var added = 0
    var errands: ArraySlice<FleetErrand> = []
    var keepings: [Keeping] = []
    var settled: [Ended] = []
    var isOver = false
    /// Whether more has ended than one transaction is to record.
    var hasMore = false
    /// Whether somebody wants the database to be looked at. Work may be here before its waking is.
    var mustLook = false
    /// Whether runs have ended: the host may have room for more.
    var mayHaveRoom = false

    /// Whether there is a reason to look at the database now. What was submitted is none, unless it is due soon.
    var isAsked: Bool { mustLook || isOver || !settled.isEmpty }
  }
}
