public import TaskModel

/// Calls of the host's part in its fleet, from other threads. Each returns at once.
extension Scheduler {
  /// How many more requests of each lane could begin now; called on the scheduler's thread.
  public func demand(for lanes: [Lane], completion: @escaping @Sendable ([Int]) -> Void) {
    inspect { core, now in completion(core.demand(for: lanes, now: now)) }
  }

  /// Takes requests that the fleet gave to this host; what can begin has begun when `completion` is called. It gets those that were not
  /// taken.
  ///
  /// - Parameters:
  ///   - unchecked: Those that no host has seen: they are checked as a submission to this host would be.
  ///   - isOwner: Whether the host's lease still lasts; called on the scheduler's thread.
  public func lease(
    _ records: [RequestRecord], unchecked: Set<RequestID> = [], while isOwner: @escaping @Sendable () -> Bool,
    completion: @escaping @Sendable (Result<[RequestID], RequestRefusal>) -> Void
  ) {
    write(completion) { core, transaction, now in try core.lease(records, unchecked: unchecked, while: isOwner, transaction, now: now) }
  }

  /// Gives back those of these requests that have not begun: they come with ``Notice/surrendered(_:)``.
  public func giveBack(_ ids: [RequestID], completion: @escaping @Sendable (Result<Void, RequestRefusal>) -> Void) {
    write(completion) { core, transaction, _ in try core.giveBack(ids, transaction) }
  }

  /// Stops all live runs of the fleet's requests by force, and those that begin before the next ``lease(_:while:completion:)``: somebody else
  /// may own their requests soon.
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
      for (index, request) in requests.enumerated() {
        do throws(RequestRefusal) { drafts.append(try core.draft(request, fleet: fleet, now: now)) } catch {
          return completion(.failure(requests.count > 1 ? error.at(index) : error))
        }
      }
      completion(.success(drafts))
    }
  }
}
