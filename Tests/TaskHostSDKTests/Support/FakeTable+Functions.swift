import CTaskHost
import Foundation

extension FakeTable {
  static func fillLaunchPhase(_ api: inout taskhost_api) {
    api.register_handler = { launch, registration in
      guard let host = FakeTable.host(launch) else { return FakeTable.answer(TASKHOST_ELAUNCHED, "launch is over") }
      guard let registration = registration?.pointee, let handler = registration.handler,
        registration.struct_size == MemoryLayout<taskhost_registration>.size
      else { return FakeTable.answer(TASKHOST_EINVAL) }
      let identifier = FakeTable.text(registration.identifier)
      if identifier.hasSuffix(".forbidden") { return FakeTable.answer(TASKHOST_ENOTPERMITTED, "\(identifier) is not permitted") }
      host.register(
        FakeHost.Registered(
          identifier: identifier, kind: registration.kind, budgetMilliseconds: registration.budget_ms,
          maxConcurrentRuns: registration.max_concurrent_runs, displayName: registration.display_name.map { String(cString: $0) },
          version: registration.version.map { String(cString: $0) }, handler: handler, context: registration.context))
      return FakeTable.answer(TASKHOST_OK)
    }
    api.configuration = { launch in FakeTable.host(launch).flatMap { $0.lastRegistration == nil ? nil : $0.settingsText } }
    api.data_directory = { launch in FakeTable.host(launch).flatMap { $0.lastRegistration == nil ? nil : $0.directory } }
    api.launch_submit = { launch, request in
      guard let host = FakeTable.host(launch) else { return FakeTable.answer(TASKHOST_ELAUNCHED, "launch is over") }
      guard let request else { return FakeTable.answer(TASKHOST_EINVAL) }
      host.hold(FakeRequest(request.pointee))
      return FakeTable.answer(TASKHOST_OK)
    }
    api.launch_log = { launch, level, message in
      guard let host = FakeTable.host(launch) else { return FakeTable.answer(TASKHOST_ELAUNCHED, "launch is over") }
      host.note(FakeLogLine(level: Int(level), text: FakeTable.text(message)))
      return FakeTable.answer(TASKHOST_OK)
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
    api.identifier = { task in FakeTable.run(task).map { UnsafePointer($0.identifier) } }
    api.request_id = { task in FakeTable.run(task).map { UnsafePointer($0.requestID) } }
    api.attempt = { task in FakeTable.run(task)?.attempt ?? 0 }
    api.now_unix_ms = { task in FakeTable.run(task) == nil ? 0 : 1_700_000_000_250 }
    api.sleep = { task, _ in FakeTable.with(task) { _ in TASKHOST_EUNSUPPORTED } }
    api.progress = { task, completed, total in
      FakeTable.with(task) { run in
        run.change { $0.progress.append([completed, total]) }
        return TASKHOST_OK
      }
    }
    api.log = { task, level, message in
      FakeTable.with(task) { run in
        run.change { $0.log.append(FakeLogLine(level: Int(level), text: FakeTable.text(message))) }
        return TASKHOST_OK
      }
    }
    api.set_message = { task, message in
      FakeTable.with(task) { run in
        run.change { $0.message = FakeTable.text(message) }
        return TASKHOST_OK
      }
    }
    api.retry_after = { task, delay in
      FakeTable.with(task) { run in
        run.change { $0.retryAfter = delay }
        return TASKHOST_OK
      }
    }
    api.submit = { task, request, submission in
      guard let request = request?.pointee else { return FakeTable.answer(TASKHOST_EINVAL) }
      let copy = FakeRequest(request)
      guard copy.identifier.hasPrefix("org.taskhost.tests") else {
        return FakeTable.answer(TASKHOST_ENOTPERMITTED, "\(copy.identifier) is not in may_submit")
      }
      return FakeTable.with(task) { run in
        run.host.submit(copy)
        submission?.pointee.disposition = UInt32(TASKHOST_REPLACED)
        submission?.pointee.next_start_unix_ms = 1_700_000_001_000
        if let submission {
          withUnsafeMutableBytes(of: &submission.pointee.request_id) { $0.copyBytes(from: "0123-new\0".utf8) }
        }
        return TASKHOST_OK
      }
    }
    api.cancel = { task, requestID in
      let requestID = FakeTable.text(requestID)
      guard requestID != "missing" else { return FakeTable.answer(TASKHOST_ENOTFOUND, "no request missing") }
      return FakeTable.with(task) { run in
        run.change { $0.cancelled.append(requestID) }
        return TASKHOST_OK
      }
    }
  }

  static func fillExpiration(_ api: inout taskhost_api) {
    api.remaining_ms = { task in FakeTable.run(task).map { $0.stopReason == nil ? 30_000 : 0 } ?? .min }
    api.grace_ms = { task in FakeTable.run(task) == nil ? 0 : 5_000 }
    api.is_expired = { task in FakeTable.run(task).map { $0.stopReason == nil ? 0 : 1 } ?? 1 }
    api.stop_reason = { task in FakeTable.run(task)?.stopReason ?? 0 }
    api.expiration_fd = { _ in -1 }
    api.set_expiration_handler = { task, handler, context in
      FakeTable.with(task) { $0.setExpirationHandler(handler, context) }
    }
  }

  static func fillStorage(_ api: inout taskhost_api) {
    api.set_output = { task, bytes, length in
      let copy = FakeTable.bytes(bytes, length)
      guard length <= 65_536 else { return FakeTable.answer(TASKHOST_ETOOBIG, "an output of \(length) bytes; the limit is 65536") }
      return FakeTable.with(task) { run in
        run.change { $0.output = bytes == nil ? nil : copy }
        return TASKHOST_OK
      }
    }
    api.state_get = { task, key, buffer, capacity, length in
      FakeTable.with(task) { FakeTable.copy($0.host.value(FakeTable.text(key)), to: buffer, capacity, length) }
    }
    api.state_set = { task, key, bytes, length in
      FakeTable.with(task) { run in
        let key = FakeTable.text(key)
        if bytes == nil && run.host.value(key) == nil { return TASKHOST_ENOTFOUND }
        run.host.setValue(bytes.map { FakeTable.bytes($0, length) }, for: key)
        return TASKHOST_OK
      }
    }
    api.checkpoint_get = { task, buffer, capacity, length in
      FakeTable.with(task) { run in FakeTable.copy(run.read { $0.checkpoint }, to: buffer, capacity, length) }
    }
    api.checkpoint_set = { task, bytes, length in
      FakeTable.with(task) { run in
        run.change { $0.checkpoint = FakeTable.bytes(bytes, length) }
        return TASKHOST_OK
      }
    }
  }

  static func copy(_ value: [UInt8]?, to buffer: UnsafeMutableRawPointer?, _ capacity: Int, _ length: UnsafeMutablePointer<Int>?)
    -> Int
  {
    guard let value else { return TASKHOST_ENOTFOUND }
    length?.pointee = value.count
    guard value.count <= capacity else { return TASKHOST_ETOOBIG }
    buffer?.copyMemory(from: value, byteCount: value.count)
    return TASKHOST_OK
  }
}
