import CTaskHost
import TaskModel
import TypedCalls

/// A run of a typed handler, on its thread.
extension LiveRun {
  /// Calls the function with the run's arguments. Its return value becomes the run's output, unless the run has set one itself.
  func perform(_ call: TypedCall) -> taskhost_result {
    let arguments: TypedArguments
    do throws(TypedPackingError) {
      arguments = try TypedArguments(packed: order.arguments ?? [], for: call.signature)
    } catch {
      record(output: [], message: "\(error); please report this as a defect of the host")
      return taskhost_result(TASKHOST_FAILURE)
    }
    let returned = call(arguments, task: handle, outputLimit: Limits.payloadBytes)
    record(output: returned.output, message: returned.message)
    switch returned.verdict {
    case .success: return taskhost_result(TASKHOST_SUCCESS)
    case .failure: return taskhost_result(TASKHOST_FAILURE)
    case .result(let code): return code
    }
  }

  /// Records output and message, except for a run that was stopped by force meanwhile.
  private func record(output: [UInt8], message: String?) {
    try? change { report in
      if report.output.isEmpty { report.output = output }
      report.message = report.message ?? message
    }
  }
}
