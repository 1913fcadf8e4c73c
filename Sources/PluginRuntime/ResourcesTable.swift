import CTaskHost
import TaskModel

/// The table of the extension `org.taskhost.resources/1`. It lives as long as the process and is read-only memory.
enum ResourcesTable {
  // reason: written once before any other code can see it, then made read-only by the kernel
  nonisolated(unsafe) static let shared: UnsafePointer<taskhost_resources>? = HostTable.readOnly(contents())

  private static func contents() -> taskhost_resources {
    var table = taskhost_resources()
    table.struct_size = UInt32(MemoryLayout<taskhost_resources>.size)
    table.launch_tokens = { launch, name, tokens in
      answer { () throws(CallFailure) in
        guard let tokens else { throw CallFailure(.invalid, "tokens is NULL") }
        let session = try LaunchTable.find(launch)
        let name = try Borrowed.text(name, named: "name", limit: Limits.keyBytes)
        guard !name.isEmpty else { throw CallFailure(.invalid, "name is empty") }
        tokens.pointee = UInt64(clamping: try session.resourceTokens(name))
      }
    }
    return table
  }
}
