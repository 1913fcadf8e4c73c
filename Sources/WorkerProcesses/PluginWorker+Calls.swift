import HostThreads
import TaskModel
import WorkerLink

/// Calls of its process to the host; on the loop's thread. Answers may come from any.
extension PluginWorker {
  func serve(_ call: WorkerCall, number: UInt64, from process: WorkerProcess) {
    guard process.beginCall(call) else {
      return monitor.locked { kill(process, violation: "it asks for more at once than its memory can hold") }
    }
    let answer: @Sendable (CallAnswer) -> Void = { [weak self] answer in
      process.endCall(call)
      if !process.send(.answer(number: number, answer)) {
        self.map { worker in worker.monitor.locked { worker.kill(process, violation: "what it is sent does not reach it") } }
      }
    }
    switch call {
    case .admit, .settings, .dataDirectory, .admitRequest, .launchPending: answer(launchAnswer(call))
    case .state(let run, _), .setState(let run, _, _), .checkpoint(let run), .setCheckpoint(let run, _),
      .openFiles(let run, _, _):
      guard let reference = caller(run, isGraced: false) else { return answer(.failure(.stale)) }
      surroundings.services.serve(call, for: reference, completion: answer)
    case .submit(let run, _), .cancel(let run, _), .pending(let run, _), .cancelPending(let run, _):
      guard let reference = caller(run, isGraced: true) else { return answer(.failure(.stale)) }
      surroundings.services.serve(call, for: reference, completion: answer)
    }
  }

  /// Who calls; nil: no run that may. Whoever calls has begun, and that is told first.
  private func caller(_ run: RunID, isGraced: Bool) -> RunReference? {
    let (reference, events) = monitor.locked { () -> (RunReference?, [LauncherEvent]) in
      begin(run, at: SystemClock.now)
      return (liveReference(run) ?? (isGraced ? gracedReference(run) : nil), begins())
    }
    for event in events { surroundings.sink(event) }
    return reference
  }

  /// With the lock held.
  private func liveReference(_ run: RunID) -> RunReference? { runs[run].flatMap { $0.isSent ? $0.reference : nil } }

  /// With the lock held: of a run that expired and has ended, as long as its grace would have lasted.
  private func gracedReference(_ run: RunID) -> RunReference? {
    graced[run].flatMap { SystemClock.now < $0.end ? $0.reference : nil }
  }

  /// With the lock held: the run has ended; if it had expired, its submissions are taken for a while.
  func keepForRequests(_ entry: WorkerRun, expired: Bool, at now: MonotonicTime) {
    if !graced.isEmpty { graced = graced.filter { $0.value.end > now } }
    guard expired, graced.count < Self.gracedLimit else { return }
    graced[entry.order.run] = (entry.reference, min(entry.forceAt, now + entry.order.contract.grace))
  }

  private func launchAnswer(_ call: WorkerCall) -> CallAnswer {
    guard monitor.locked({ if case .starting = phase { true } else { false } }) else { return .failure(.launchIsOver) }
    switch call {
    case .admit(let identifier): monitor.locked { asked = asked ?? identifier }
    case .settings, .dataDirectory: monitor.locked { askedForSettings = true }
    case .launchPending: monitor.locked { askedForRequests = true }
    default: break
    }
    do throws(CallFailure) {
      switch call {
      case .admit(let identifier):
        try policy.admit(identifier)
        monitor.locked { _ = admitted.insert(identifier) }
      case .settings(let identifier): return .text(policy.settings(for: identifier))
      case .dataDirectory(let identifier): return .text(try policy.dataDirectory(for: identifier))
      case .launchPending(let identifiers, let request): return .pending(try policy.pendingRequests(of: identifiers, after: request))
      case .admitRequest(let request, let identifier): try policy.admit(request, from: identifier)
      default: return .failure(.launchIsOver)
      }
      return .done
    } catch { return .failure(error) }
  }
}
