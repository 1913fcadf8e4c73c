public import TaskModel

/// Pauses. Completions are called on the scheduler's thread, once the change is durable.
extension Scheduler {
  /// Holds what a filter selects until the pause ends. Refused if the filter, a text or the time is wrong, or if there are too many.
  ///
  /// - Parameter isDry: Whether only to check the order: nothing is paused.
  public func pause(_ order: PauseOrder, isDry: Bool, completion: @escaping @Sendable (Result<Pause, RequestRefusal>) -> Void) {
    write(completion) { core, transaction, now in try core.pause(order, isDry: isDry, transaction, now: now) }
  }

  /// Ends pauses. Refused with `notFound` if none is selected.
  ///
  /// - Parameter completion: Gets the ended pauses.
  public func resume(_ selection: PauseSelection, completion: @escaping @Sendable (Result<[Pause], RequestRefusal>) -> Void) {
    write(completion) { core, transaction, now in try core.resume(selection, transaction, now: now) }
  }

  /// Takes the fleet's pauses as they are now.
  ///
  /// - Parameter identifiers: The fleet's, of which alone they hold requests.
  public func set(ofFleet pauses: [Pause], of identifiers: Set<TaskIdentifier>) {
    write({ (_: Result<Void, RequestRefusal>) in }) { core, transaction, now in
      try core.set(ofFleet: pauses, of: identifiers, transaction, now: now)
    }
  }

  /// The refusal that no pause is selected.
  ///
  /// - Parameter pauses: Those that there are.
  public static func noPause(_ selection: PauseSelection, among pauses: [Pause]) -> RequestRefusal {
    SchedulerCore.noPause(selection, pauses)
  }

  /// Gets the pauses in force.
  public func pauses(completion: @escaping @Sendable (PauseBook) -> Void) { inspect { core, _ in completion(core.pauses) } }
}
