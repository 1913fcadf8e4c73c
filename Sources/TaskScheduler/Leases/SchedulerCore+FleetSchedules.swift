public import TaskModel

/// What must change so that the fleet's requests of `schedule` lines are as a host's configuration wants them.
public struct FleetScheduleChanges: Sendable {
  /// Those that the fleet lacks.
  public internal(set) var missing: [FleetSubmission] = []
  /// Those that are otherwise there.
  public internal(set) var changed: [ScheduleName] = []
  /// Why schedules cannot be had.
  public internal(set) var refused: [(name: ScheduleName, refusal: RequestRefusal)] = []
}

extension SchedulerCore {
  /// Compares the fleet's requests of schedules with the configuration. Schedules of identifiers without a handler stay as they are, as on
  /// one host.
  func align(
    _ schedules: [ScheduleName: ScheduledRequest], with stored: [ScheduleName: RequestRecord], fleet: UInt64, now: WallTime
  ) -> FleetScheduleChanges {
    var changes = FleetScheduleChanges()
    for (name, schedule) in schedules.sorted(by: { $0.key.description < $1.key.description }) {
      var wanted = schedule.submission(of: name)
      do throws(RequestRefusal) {
        if let record = stored[name] {
          settleTenant(of: &wanted)
          let hasPayload = record.request.payload == wanted.payload
          if try aligned(record, hasPayload: hasPayload, with: wanted, of: schedule.repetition, now: fleetNow(now)) != nil {
            changes.changed.append(name)
          }
        } else if handlers[name.identifier] != nil {
          changes.missing.append(try draft(wanted, by: .operatorsConfiguration, fleet: fleet, now: now))
        }
      } catch { changes.refused.append((name, error)) }
    }
    return changes
  }
}

extension SchedulerChange<Void> {
  /// Makes the request of a schedule as the configuration wants it.
  public static func align(_ id: RequestID, with name: ScheduleName, _ schedule: ScheduledRequest) -> Self {
    Self { core, transaction, now in
      var record = try core.find(id, transaction)
      try core.bring(&record, inLineWith: schedule, name, transaction, now: now)
    }
  }

  /// Cancels the request of a schedule that no host has any more.
  public static func endSchedule(_ id: RequestID) -> Self {
    Self { core, transaction, now in
      var record = try core.find(id, transaction)
      try core.cancelWaiting(
        &record, message: "its schedule is no longer in the configuration of any host", transaction, now: now)
    }
  }
}
