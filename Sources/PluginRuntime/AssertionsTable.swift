import CTaskHost
import TaskModel

/// The table of the extension `org.taskhost.assertions/1`. It lives as long as the process and is read-only memory.
enum AssertionsTable {
  // reason: written once before any other code can see it, then made read-only by the kernel
  nonisolated(unsafe) static let shared: UnsafePointer<taskhost_assertions>? = HostTable.readOnly(contents())

  private static func contents() -> taskhost_assertions {
    var table = taskhost_assertions()
    table.struct_size = UInt32(MemoryLayout<taskhost_assertions>.size)
    table.begin = { task, request, assertion in
      answer { () throws(CallFailure) in
        let run = try RunTable.shared.live(task)
        guard let assertion else { throw CallFailure(.invalid, "assertion is NULL") }
        let raw = try Borrowed.structure(request, named: "assertion_request", empty: taskhost_assertion_request())
        assertion.pointee = try run.beginAssertion(
          try AssertionRequest(raw), raw.expired.map { AssertionCall(handler: $0, context: raw.context) })
      }
    }
    table.remaining_ms = { task, assertion in
      HostTable.value(orElse: .min) { () throws(CallFailure) in
        try RunTable.shared.find(task).remainingMilliseconds(of: assertion)
      }
    }
    table.end = { task, assertion in
      answer { () throws(CallFailure) in try RunTable.shared.findWithForced(task).endAssertion(assertion) }
    }
    return table
  }
}

extension AssertionRequest {
  /// Copies what a plugin lends, and checks it.
  fileprivate init(_ raw: taskhost_assertion_request) throws(CallFailure) {
    guard raw.reserved == 0 else { throw CallFailure(.invalid, "reserved is \(raw.reserved); it must be 0") }
    self.init(
      name: try Borrowed.text(raw.name, named: "name", limit: Limits.assertionNameBytes),
      reason: try Borrowed.optionalText(raw.reason, named: "reason", limit: Limits.assertionReasonBytes),
      length: raw.for_ms == 0 ? Limits.assertionPreset : .milliseconds(Int64(clamping: raw.for_ms)))
    do throws(RequestRefusal) { try check() } catch { throw CallFailure(error) }
  }
}
