import CTaskHost
import TaskModel
import TypedCalls

extension PluginHandler {
  /// A text for people; an empty one is none.
  private static func shown(_ text: String) -> String? { text.isEmpty ? nil : text.escapingControlCharacters }

  /// Copies what a plugin registers. Throws `invalid`, `unsupported`.
  init(borrowed pointer: UnsafePointer<taskhost_registration>?) throws(CallFailure) {
    let raw = try Borrowed.structure(pointer, named: "registration", empty: taskhost_registration())
    let identifier = try Borrowed.identifier(raw.identifier)
    guard let kind = TaskKind(code: raw.kind) else {
      throw CallFailure(.invalid, "kind \(raw.kind) is none of TASKHOST_REFRESH, TASKHOST_PROCESSING, TASKHOST_CONTINUED")
    }
    guard raw.reserved == 0 else { throw CallFailure(.invalid, "reserved is \(raw.reserved); it must be 0") }
    guard raw.max_concurrent_runs <= Limits.concurrentRuns else {
      throw CallFailure(.invalid, "max_concurrent_runs is \(raw.max_concurrent_runs), more than \(Limits.concurrentRuns)")
    }
    let registered = HandlerRegistration(
      identifier: identifier, kind: kind,
      budget: raw.budget_ms == 0 ? nil : .milliseconds(Int64(clamping: raw.budget_ms)),
      maxConcurrentRuns: raw.max_concurrent_runs == 0 ? 1 : Int(raw.max_concurrent_runs),
      displayName: try Borrowed.optionalText(raw.display_name, named: "display_name", limit: 256).flatMap(Self.shown),
      version: try Borrowed.optionalText(raw.version, named: "version", limit: 64).flatMap(Self.shown))
    let signature = try Borrowed.optionalText(raw.signature, named: "signature", limit: Limits.signatureBytes)
    switch (raw.handler, signature, raw.function) {
    case (let handler?, nil, nil): self.init(registered: registered, entry: .function(handler, context: raw.context))
    case (nil, let signature?, let function?):
      self.init(registered: registered, call: try Self.typed(signature, function))
    case (nil, nil, nil): throw CallFailure(.invalid, "handler is NULL: set it, or a signature with its function")
    case (nil, .some, nil): throw CallFailure(.invalid, "a signature is set, its function is NULL: set both")
    case (nil, nil, .some): throw CallFailure(.invalid, "a function is set, its signature is NULL: set both")
    case (.some, _, _):
      throw CallFailure(.invalid, "a handler and a signature or function are set: a registration has either a handler or these two")
    }
  }

  private static func typed(_ signature: String, _ function: @escaping TypedFunction) throws(CallFailure) -> TypedCall {
    let parsed: TypedSignature
    do { parsed = try TypedSignature(signature) } catch { throw CallFailure(.invalid, "signature, \(error)") }
    do { return try TypedCall(signature: parsed, function: function) } catch { throw CallFailure(.invalid, "signature: \(error)") }
  }
}
