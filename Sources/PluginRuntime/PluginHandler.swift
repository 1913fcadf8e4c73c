import CTaskHost
public import TaskModel
import TypedCalls

/// A handler that a plugin registered: the function to call and its contract.
public struct PluginHandler: @unchecked Sendable {  // reason: two addresses that the plugin promises to keep valid
  /// What was registered, before the operator's limits are applied.
  public let registered: HandlerRegistration
  let entry: Entry

  enum Entry {
    /// The contract's own handler, with the context it was registered with.
    case function(taskhost_handler, context: UnsafeMutableRawPointer?)
    /// A function that is called with its own arguments.
    case typed(TypedCall)
  }

  /// A typed handler.
  init(registered: HandlerRegistration, call: TypedCall) {
    var registered = registered
    registered.typed = TypedContract(signature: call.signature.description, success: call.success)
    self.init(registered: registered, entry: .typed(call))
  }

  init(registered: HandlerRegistration, entry: Entry) {
    self.registered = registered
    self.entry = entry
  }

  /// Does the work of a run, on the calling thread.
  func call(_ run: LiveRun) -> taskhost_result {
    switch entry {
    case .function(let function, let context): function(run.handle, context)
    case .typed(let call): run.perform(call)
    }
  }
}
