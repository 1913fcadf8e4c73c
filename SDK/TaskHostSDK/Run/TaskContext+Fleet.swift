import CTaskHost

extension TaskContext {
  /// The run's fencing token, for a request that hosts share: whichever host owns the request later gives its run a greater one. `nil` for a
  /// request of one host, and once the run is over.
  ///
  /// Pass it on with what the run writes elsewhere, and let that place refuse a token that is less than one it has seen: then a run of a host
  /// that has lost the request changes nothing there.
  ///
  /// - Source: M. Kleppmann, "How to do distributed locking" (2016).
  public var fencingToken: UInt64? { run.fencingToken }
}

extension RunHandle {
  /// See ``TaskContext/fencingToken``.
  package var fencingToken: UInt64? {
    guard let table = functions.pointee.extension(TASKHOST_EXTENSION_FLEET)?.assumingMemoryBound(to: taskhost_fleet.self) else {
      return nil
    }
    var token: UInt64 = 0
    return table.pointee.fencing_token(task, &token) == taskhost_status(TASKHOST_OK) ? token : nil
  }
}
