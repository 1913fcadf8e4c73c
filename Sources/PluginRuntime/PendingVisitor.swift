import CTaskHost
import TaskModel

/// A plugin's function that receives pending requests. Called on the thread that asked for them, without any lock held.
struct PendingVisitor {
  private let visit: (UnsafePointer<taskhost_pending_request>?, UnsafeMutableRawPointer?) -> Void
  private let context: UnsafeMutableRawPointer?

  /// Throws `invalid` for NULL.
  init(_ visit: taskhost_request_visitor?, _ context: UnsafeMutableRawPointer?) throws(CallFailure) {
    guard let visit else { throw CallFailure(.invalid, "visit is NULL") }
    self.visit = visit
    self.context = context
  }

  /// Visits the requests of all pages from `page`, at most ``Limits/pendingVisited``. `page` also returns the kinds of the handlers.
  func visitAll(
    _ page: (_ after: RequestID?) throws(CallFailure) -> (PendingPage, kinds: [TaskIdentifier: TaskKind])
  ) throws(CallFailure) {
    var after: RequestID?
    var left = Limits.pendingVisited
    repeat {
      let (page, kinds) = try page(after)
      for request in page.requests.prefix(left) { show(request, kinds[request.identifier]) }
      left -= page.requests.count
      after = page.next
    } while after != nil && left > 0
  }

  private func show(_ request: PendingRequest, _ kind: TaskKind?) {
    // A request without a handler is not shown.
    guard let kind else { return }
    request.identifier.rawValue.withCString { identifier in
      request.id.description.withCString { id in
        // One additional zero byte, so that JSON can be read as a C string.
        (request.payload + [0]).withUnsafeBytes { payload in
          var shown = taskhost_pending_request()
          shown.struct_size = UInt32(MemoryLayout<taskhost_pending_request>.size)
          shown.conditions = request.conditions.rawValue
          shown.earliest_begin_unix_ms = request.earliestBegin?.unixMilliseconds ?? 0
          shown.next_start_unix_ms = request.nextStart.unixMilliseconds
          shown.attempt = UInt32(clamping: request.attempt)
          shown.kind = kind.code
          shown.identifier = identifier
          shown.request_id = id
          shown.payload = payload.baseAddress
          shown.payload_length = UInt64(request.payload.count)
          visit(&shown, context)
        }
      }
    }
  }
}
