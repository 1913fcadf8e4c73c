public import TaskModel

/// Calls of the host's part in its fleet, from other threads. Each returns at once.
extension Scheduler {
  /// From now on, runs of the fleet's requests name this host.
  ///
  /// - Parameters:
  ///   - host: Its name in the fleet.
  ///   - clock: The requests are due by it, whatever the host's own says; called on the scheduler's thread. It gives nil while the time is
  ///     not known.
  public func setFleet(host: String, clock: @escaping @Sendable () -> WallTime?) {
    inspect { core, _ in (core.fleetHost, core.fleetClock) = (host, clock) }
  }

  /// Lets conditions of the machine be observed because ready requests of the fleet require them; called on the scheduler's thread.
  ///
  /// - Parameter gained: Called there when one of them holds again: the host may take more.
  public func observeForFleet(_ conditions: Conditions, gained: @escaping @Sendable () -> Void) {
    inspect { core, _ in core.fleetAwaits = (conditions, gained) }
  }

  /// How many more requests of each lane could begin now; called on the scheduler's thread.
  public func demand(for lanes: [Lane], completion: @escaping @Sendable ([LaneDemand]) -> Void) {
    inspect { core, now in completion(core.demand(for: lanes, now: now)) }
  }

  /// Why nothing of each lane could begin now, in a sentence; nil if something could. Called on the scheduler's thread.
  public func obstacles(for lanes: [Lane], completion: @escaping @Sendable ([String?]) -> Void) {
    inspect { core, now in completion(lanes.map { core.obstacle(of: $0, now: now) }) }
  }

  /// Takes requests that the fleet gave to this host; what can begin has begun when `completion` is called. It gets those that were not
  /// taken.
  ///
  /// - Parameters:
  ///   - cancelled: Those of them that do not begin, because somebody has cancelled them.
  ///   - awakeSince: Since when hosts of the fleet have been up without a gap: occurrences before it were missed.
  ///   - isOwner: Whether the host's lease still lasts; called on the scheduler's thread.
  public func lease(
    _ requests: [LeasedRequest], cancelled: Set<RequestID>, awakeSince: WallTime, while isOwner: @escaping @Sendable () -> Bool,
    completion: @escaping @Sendable (Result<[RequestID], RequestRefusal>) -> Void
  ) {
    write(completion) { core, transaction, now in
      core.fleetAwakeSince = awakeSince
      return try core.lease(requests, cancelled: cancelled, while: isOwner, transaction, now: now)
    }
  }

  /// Gives back those of these requests that have not begun: they come with ``Notice/surrendered(_:)``.
  public func giveBack(_ ids: [RequestID], completion: @escaping @Sendable (Result<Void, RequestRefusal>) -> Void) {
    write(completion) { core, transaction, _ in try core.giveBack(ids, transaction) }
  }

  /// The lease has ended: stops all live runs of the fleet's requests by force, and those that begin before the next
  /// ``lease(_:cancelled:awakeSince:while:completion:)``, because somebody else may own their requests soon. What waits goes back as soon as the
  /// store takes that, and does not begin before.
  public func forceLeased() { send(.forceLeased) }

  /// How many runs of the fleet's requests are live or handed out ahead; called on the scheduler's thread.
  public func leasedRuns(completion: @escaping @Sendable (Int) -> Void) {
    inspect { core, _ in
      guard let fleet = core.fleet else { return completion(0) }
      completion(
        core.live.values.count { $0.request.origin == fleet } + core.claims.values.count { $0.entry.request.origin == fleet })
    }
  }

  /// Checks submissions for the fleet as if they were for this host; called on the scheduler's thread.
  ///
  /// - Parameter fleet: What the ids of the fleet's requests share.
  public func draft(
    _ requests: [TaskRequest], fleet: UInt64, completion: @escaping @Sendable (Result<[FleetSubmission], RequestRefusal>) -> Void
  ) {
    inspect { core, now in
      var drafts: [FleetSubmission] = []
      drafts.reserveCapacity(requests.count)
      for index in requests.indices {
        do throws(RequestRefusal) { drafts.append(try core.draft(requests[index], fleet: fleet, now: now)) } catch {
          return completion(.failure(requests.count > 1 ? error.at(index) : error))
        }
      }
      completion(.success(drafts))
    }
  }

  /// Checks a submission of a run for the fleet as if it were for this host, see ``submit(_:from:of:by:completion:)``.
  public func draft(
    _ request: TaskRequest, from run: RunReference, by plugin: TaskIdentifier, fleet: UInt64,
    completion: @escaping @Sendable (Result<FleetSubmission, RequestRefusal>) -> Void
  ) {
    write(completion) { core, transaction, now in
      try core.checkMaySubmit(run.run, of: run.request, transaction)
      return try core.draft(request, by: .plugin(plugin), fleet: fleet, now: now)
    }
  }

  /// What must change so that the fleet's requests of `schedule` lines are as the host's configuration wants them; called on the
  /// scheduler's thread.
  ///
  /// - Parameter stored: The fleet's requests of these schedules, with their payloads.
  public func align(
    _ schedules: [ScheduleName: ScheduledRequest], with stored: [ScheduleName: RequestRecord], fleet: UInt64,
    completion: @escaping @Sendable (FleetScheduleChanges) -> Void
  ) {
    inspect { core, now in completion(core.align(schedules, with: stored, fleet: fleet, now: now)) }
  }
}
