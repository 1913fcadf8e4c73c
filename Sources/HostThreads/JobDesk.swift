import TaskModel

/// Does jobs one by one, on a thread that exists only while there are any.
///
/// For work that plugins can ask for as often as they like: few jobs may wait, no owner may use all places, owners take turns, and the
/// thread rests after a job for as long as the job says.
public final class JobDesk<Owner: Hashable & Sendable>: Sendable {
  private struct Job {
    let work: @Sendable () -> Duration
    let failed: @Sendable (HostThread.Failure) -> Void
  }

  private struct State {
    /// The jobs of each owner in the order in which they came; never empty.
    var waiting: [Owner: [Job]] = [:]
    /// The owners with jobs, the one whose turn is next first.
    var turns: [Owner] = []
    var isServing = false

    var count: Int { waiting.values.reduce(0) { $0 + $1.count } }
  }

  private let name: String
  private let mostWaiting: Int
  private let mostOfOne: Int
  private let state = Guarded(State())

  /// Creates a desk without jobs.
  ///
  /// - Parameters:
  ///   - name: The name of its thread.
  ///   - mostWaiting: How many jobs may wait.
  ///   - mostOfOne: How many jobs of one owner may wait.
  public init(_ name: String, mostWaiting: Int, mostOfOne: Int) {
    self.name = name
    self.mostWaiting = mostWaiting
    self.mostOfOne = mostOfOne
  }

  /// Takes a job and returns at once.
  ///
  /// - Parameters:
  ///   - work: Runs on the desk's thread; returns how long to rest afterwards.
  ///   - failed: Called instead of `work`, on this thread, if the desk's thread cannot be started.
  /// - Returns: False if too many wait; neither is called then.
  public func take(
    from owner: Owner, work: @escaping @Sendable () -> Duration, failed: @escaping @Sendable (HostThread.Failure) -> Void
  ) -> Bool {
    let (isTaken, starts) = state.withLock { state in
      let own = state.waiting[owner] ?? []
      guard state.count < mostWaiting, own.count < mostOfOne else { return (false, false) }
      if own.isEmpty { state.turns.append(owner) }
      state.waiting[owner] = own + [Job(work: work, failed: failed)]
      defer { state.isServing = true }
      return (true, !state.isServing)
    }
    guard starts else { return isTaken }
    do throws(HostThread.Failure) { try HostThread.start(name) { [self] in serve() } } catch {
      let left = state.withLock { state in
        defer { state = State() }
        return state.turns.flatMap { state.waiting[$0] ?? [] }
      }
      for job in left { job.failed(error) }
    }
    return true
  }

  private func serve() {
    while let job = next() {
      let rest = job.work()
      if rest > .zero { _ = Guarded(()).wait(until: SystemClock.now + rest) { _ -> Void? in nil } }
    }
  }

  /// One job of the owner whose turn it is; it goes to the end of the line with the rest of its jobs.
  private func next() -> Job? {
    state.withLock { state in
      state.isServing = !state.turns.isEmpty
      guard !state.turns.isEmpty else { return nil }
      let owner = state.turns.removeFirst()
      var own = state.waiting.removeValue(forKey: owner) ?? []
      guard !own.isEmpty else { return nil }
      let job = own.removeFirst()
      if !own.isEmpty {
        state.waiting[owner] = own
        state.turns.append(owner)
      }
      return job
    }
  }
}
