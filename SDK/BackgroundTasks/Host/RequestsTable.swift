import CTaskHost
import TaskHostSDK

extension HostFunctions {
  /// The host's extension for pending requests.
  ///
  /// - Throws: `TASKHOST_EUNSUPPORTED` for a host older than the extension, under which tasks run but nothing can be submitted.
  func requests() throws(TaskHostError) -> UnsafePointer<taskhost_requests> {
    guard let table = api.pointee.extension(TASKHOST_EXTENSION_REQUESTS)?.assumingMemoryBound(to: taskhost_requests.self),
      table.pointee.struct_size >= 48
    else {
      throw TaskHostError(TASKHOST_EUNSUPPORTED, "the host does not know \(TASKHOST_EXTENSION_REQUESTS): update taskhost")
    }
    return table
  }
}

extension HostFunctions {
  /// How many tokens the host has of a resource; 0 if it does not say.
  func tokens(of resource: String, _ launch: taskhost_launch) -> UInt64 {
    guard let table = api.pointee.extension(TASKHOST_EXTENSION_RESOURCES)?.assumingMemoryBound(to: taskhost_resources.self),
      table.pointee.struct_size >= 16
    else { return 0 }
    var tokens: UInt64 = 0
    let status = resource.withCString { table.pointee.launch_tokens(launch, $0, &tokens) }
    return status == taskhost_status(TASKHOST_OK) ? tokens : 0
  }
}

extension TaskHostError {
  init(_ status: Int, _ message: String) { self.init(status: taskhost_status(status), message: message) }

  /// Whether the call's run or launch is over, so that the caller may try another.
  var isOver: Bool { code == .stale || code == .launched }
}
