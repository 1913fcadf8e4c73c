import CTaskHost

/// The host's functions, its extension for pending requests included.
///
/// `@unchecked Sendable`: the contract has both tables in read-only memory that lives as long as the process.
struct HostTable: @unchecked Sendable {
  let api: UnsafePointer<taskhost_api>
  /// `nil`: a host from before the extension, under which tasks run but nothing can be submitted.
  let requests: UnsafePointer<taskhost_requests>?

  /// The table, if it is one this module can use.
  ///
  /// - Throws: `TASKHOST_EINVAL` for NULL, `TASKHOST_EUNSUPPORTED` for a host older than this module.
  init(_ api: UnsafePointer<taskhost_api>?) throws(HostError) {
    guard let api else { throw HostError(status: TASKHOST_EINVAL, message: "the host gave no table of functions") }
    guard api.pointee.abi_version >= 1, api.pointee.struct_size >= Self.size else {
      throw HostError(
        status: TASKHOST_EUNSUPPORTED,
        message: "the host speaks ABI \(api.pointee.abi_version) with a table of \(api.pointee.struct_size) bytes; "
          + "this plugin needs ABI 1 with \(Self.size): update taskhost")
    }
    self.api = api
    let requests = api.pointee.extension(TASKHOST_EXTENSION_REQUESTS)?.assumingMemoryBound(to: taskhost_requests.self)
    self.requests = requests.flatMap { $0.pointee.struct_size >= Self.requestsSize ? $0 : nil }
  }

  /// Turns a status into an error with the host's sentence. Called on the thread that made the call, before its next call.
  func check(_ status: taskhost_status) throws(HostError) {
    guard status != taskhost_status(TASKHOST_OK) else { return }
    throw HostError(status: Int(status), message: api.pointee.last_error().map { String(cString: $0) } ?? "")
  }

  /// The extension's functions.
  ///
  /// - Throws: `TASKHOST_EUNSUPPORTED` where the host has none.
  func extensionTable() throws(HostError) -> UnsafePointer<taskhost_requests> {
    guard let requests else {
      throw HostError(status: TASKHOST_EUNSUPPORTED, message: "the host does not know \(TASKHOST_EXTENSION_REQUESTS): update taskhost")
    }
    return requests
  }

  private static let size = 248
  private static let requestsSize = 48
}
