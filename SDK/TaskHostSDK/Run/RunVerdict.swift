package import CTaskHost

/// The result of a run and its message, as the host gets them.
package struct RunVerdict: Sendable {
  package let result: TaskResult
  /// `nil` keeps the plugin's own message.
  package let message: String?

  package init(result: TaskResult, message: String?) {
    self.result = result
    self.message = message
  }

  static func of<Plugin: BackgroundTask>(_ plugin: Plugin, _ run: RunHandle) async -> RunVerdict {
    let work: @Sendable () async throws -> TaskResult
    do {
      if let completion = try TransferCompletion(of: run) {
        let context = try TaskContext<NoPayload>(run)
        work = { try await completion.deliver { try await plugin.transfersEnded($0, context) } }
      } else {
        let context = try TaskContext<Plugin.Payload>(run)
        work = { try await plugin.run(context) }
      }
    } catch let error as DecodingError {
      return RunVerdict(result: .failure, message: JSON.describe(error, as: "payload"))
    } catch let error as TaskHostError {
      return RunVerdict(result: .retry(), message: error.description)
    } catch {
      return RunVerdict(result: .failure, message: "payload: \(error)")
    }
    do {
      return RunVerdict(result: try await work(), message: nil)
    } catch let failure as TaskFailure {
      return RunVerdict(result: failure.result, message: failure.message)
    } catch is CancellationError {
      return RunVerdict(result: .retry(), message: run.isExpired ? nil : "the run cancelled itself: CancellationError before expiration")
    } catch let error as DecodingError {
      return RunVerdict(result: .retry(), message: JSON.describe(error, as: "value"))
    } catch {
      return RunVerdict(result: .retry(), message: String(describing: error))
    }
  }

  /// Reports message and delay to the host.
  package func report(to run: RunHandle) -> taskhost_result {
    if let message { run.setMessage(message) }
    switch result {
    case .success: return taskhost_result(TASKHOST_SUCCESS)
    case .noop: return taskhost_result(TASKHOST_NOOP)
    case .failure: return taskhost_result(TASKHOST_FAILURE)
    case .snooze(let delay):
      report(delay, to: run)
      return taskhost_result(TASKHOST_SNOOZE)
    case .retry(let delay):
      report(delay, to: run)
      return taskhost_result(TASKHOST_RETRY)
    }
  }

  private func report(_ delay: Duration?, to run: RunHandle) {
    guard let delay else { return }
    _ = run.functions.pointee.retry_after(run.task, delay.millisecondsRoundedUp)
  }
}
