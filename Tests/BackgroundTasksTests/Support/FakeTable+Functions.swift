import TestSupport
import CTaskHost
import Foundation
import Synchronization

extension FakeTable {
  static func fillLaunchPhase(_ api: inout taskhost_api) {
    api.register_handler = { launch, registration in
      FakeTable.with(launch: launch) { host in
        guard let registration = registration?.pointee, let handler = registration.handler else { return TASKHOST_EINVAL }
        let identifier = FakeTable.text(registration.identifier)
        if identifier.hasSuffix("forbidden") { return TASKHOST_ENOTPERMITTED }
        host.register(
          FakeHost.Registered(
            identifier: identifier, kind: Int(registration.kind), maxConcurrentRuns: Int(registration.max_concurrent_runs),
            handler: handler, context: registration.context))
        return TASKHOST_OK
      }
    }
    api.data_directory = { launch in
      FakeTable.launches.withLock { $0[launch] }.flatMap { $0.registered.isEmpty ? nil : UnsafePointer(FakeTable.directory) }
    }
    api.launch_submit = { launch, request in
      FakeTable.with(launch: launch, "launch_submit") { host in
        guard let request = request?.pointee else { return TASKHOST_EINVAL }
        if request.conditions != 0, let refusal = host.status(of: "conditions") { return refusal }
        let copy = FakeRequest(id: "held-\(FakeTable.newHandle())", request)
        host.hold { $0.wait(copy) }
        return TASKHOST_OK
      }
    }
    api.launch_log = { launch, level, message in
      FakeTable.with(launch: launch) { host in
        host.note(FakeLogLine(level: Int(level), text: FakeTable.text(message)))
        return TASKHOST_OK
      }
    }
  }

  static func fillRunPhase(_ api: inout taskhost_api) {
    api.payload = { task, bytes, length in
      FakeTable.with(task) { run in
        bytes?.pointee = UnsafeRawPointer(run.payloadStart)
        length?.pointee = run.payload.count
        return TASKHOST_OK
      }
    }
    api.now_unix_ms = { _ in FakeTable.now }
    api.stop_reason = { task in taskhost_stop_reason(FakeTable.runs.withLock { $0[task] }?.stopReason ?? TASKHOST_STOP_NONE) }
    api.grace_ms = { task in FakeTable.runs.withLock { $0[task] }?.graceLeft ?? 0 }
    api.set_expiration_handler = { task, handler, context in FakeTable.with(task) { $0.setExpirationHandler(handler, context) } }
    api.progress = { task, completed, total in FakeTable.change(task) { $0.progress.append([completed, total]) } }
    api.log = { task, level, message in
      let line = FakeLogLine(level: Int(level), text: FakeTable.text(message))
      return FakeTable.with(task) { run in
        run.change { $0.log.append(line) }
        run.hasLogged.set()
        return TASKHOST_OK
      }
    }
    api.set_message = { task, message in
      let text = FakeTable.text(message)
      return FakeTable.change(task) { $0.message = text }
    }
    api.state_get = { task, key, buffer, capacity, length in
      FakeTable.with(task) { run in
        guard let value = run.host.state[FakeTable.text(key)] else { return TASKHOST_ENOTFOUND }
        length?.pointee = value.count
        guard value.count <= capacity else { return TASKHOST_ETOOBIG }
        buffer?.copyMemory(from: value, byteCount: value.count)
        return TASKHOST_OK
      }
    }
    api.state_set = { task, key, bytes, length in
      FakeTable.with(task) { run in
        run.host.setState(FakeTable.bytes(bytes, length), for: FakeTable.text(key))
        return TASKHOST_OK
      }
    }
    api.submit = { task, request, submission in
      FakeTable.with(task, "submit") { run in
        guard let request = request?.pointee else { return TASKHOST_EINVAL }
        if request.earliest_begin_unix_ms < 0, !run.host.hasPace { return TASKHOST_EINVAL }
        if request.conditions != 0, let refusal = run.host.status(of: "conditions") { return refusal }
        let taken = run.host.submit(request)
        submission?.pointee.next_start_unix_ms = FakeTable.now + run.host.delay
        if let submission {
          withUnsafeMutableBytes(of: &submission.pointee.request_id) { $0.copyBytes(from: Array(taken.id.utf8) + [0]) }
        }
        return TASKHOST_OK
      }
    }
    api.cancel = { task, id in
      FakeTable.with(task, "cancel") { $0.host.cancel(id: FakeTable.text(id)) ? TASKHOST_OK : TASKHOST_ENOTFOUND }
    }
  }

  private static func change(_ task: taskhost_task, _ body: @escaping (inout FakeRun.Record) -> Void) -> taskhost_status {
    with(task) { run in
      run.change(body)
      return TASKHOST_OK
    }
  }

  // MARK: org.taskhost.requests/1

  static func makeRequests() -> taskhost_requests {
    var table = taskhost_requests()
    table.struct_size = UInt32(MemoryLayout<taskhost_requests>.size)
    table.list = { task, visit, context in FakeTable.with(task, "list") { FakeTable.show($0.host, visit, context) } }
    table.launch_list = { launch, visit, context in
      FakeTable.with(launch: launch, "list") { FakeTable.show($0, visit, context) }
    }
    table.cancel_identifier = { task, identifier, count in
      FakeTable.with(task, "cancel") { run in
        let cancelled = run.host.cancel(FakeTable.text(identifier))
        count?.pointee = UInt64(cancelled)
        return TASKHOST_OK
      }
    }
    table.cancel_all = { task, _ in
      FakeTable.with(task, "cancel") { run in
        _ = run.host.cancel(nil)
        return TASKHOST_OK
      }
    }
    table.launch_cancel = { launch, identifier in
      let identifier = identifier.map { String(cString: $0) }
      return FakeTable.with(launch: launch, "cancel") { host in
        host.hold { _ = $0.cancel(identifier) }
        return TASKHOST_OK
      }
    }
    return table
  }

  private static func show(_ host: FakeHost, _ visit: taskhost_request_visitor?, _ context: UnsafeMutableRawPointer?) -> Int {
    for request in host.pending {
      request.identifier.withCString { identifier in
        request.id.withCString { id in
          (request.payload + [0]).withUnsafeBytes { payload in
            var pending = taskhost_pending_request()
            pending.struct_size = UInt32(MemoryLayout<taskhost_pending_request>.size)
            pending.conditions = UInt32(request.conditions)
            pending.earliest_begin_unix_ms = request.earliestBegin
            pending.attempt = 1
            pending.identifier = identifier
            pending.request_id = id
            pending.payload = payload.baseAddress
            pending.payload_length = UInt64(request.payload.count)
            visit?(&pending, context)
          }
        }
      }
    }
    return TASKHOST_OK
  }
}
