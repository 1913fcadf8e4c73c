import NIOCore
import TaskModel

/// How long a client may take before its connection is closed, so that idle and slow clients do not exhaust the host.
struct ClientPatience: Sendable {
  /// Without a request, or without a byte in the middle of one.
  var idle = TimeAmount.seconds(30)
  /// Until a request's whole body has arrived.
  var body = TimeAmount.seconds(60)
  /// Without reading of an event stream that is full.
  var eventWrite = TimeAmount.seconds(30)
  /// Until an answer that is being written is read, once the server is asked to end.
  var shutdown = Duration.seconds(5)
}
