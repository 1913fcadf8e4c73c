import HostThreads
import TaskModel

/// Bytes to a host and back. All but ``interrupt()`` block, and are called by one thread at a time.
protocol ByteLine: Sendable {
  /// Sends all. Returns as if it had when the host has closed the connection: its answer says why.
  func write(_ bytes: [UInt8]) throws(ConnectionFailure)

  /// The next bytes; none at the end.
  ///
  /// - Parameter deadline: Until when to wait, by ``SystemClock``; nil: without a limit.
  func read(until deadline: MonotonicTime?) throws(ConnectionFailure) -> [UInt8]

  /// Ends the connection: wakes a thread that reads. Any thread.
  func interrupt()
}

/// Why a connection to a host failed, a clause.
package struct ConnectionFailure: Error, CustomStringConvertible {
  package let description: String

  init(_ description: String) { self.description = description }

  static let late = ConnectionFailure("no answer came in time")
}
