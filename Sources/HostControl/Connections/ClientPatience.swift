import NIOCore
import TaskModel

/// How long a client may keep the host waiting before its connection is closed, so that idle and slow clients do not exhaust the host.
struct ClientPatience: Sendable {
  /// From connection to the head of the first request, and from the first byte to the head of each later one.
  var head = TimeAmount.seconds(5)
  /// Between requests.
  var idle = TimeAmount.seconds(30)
  /// From head to end of a request's body: at first, and at most. Bytes that arrive extend the first limit towards the second.
  var body = (first: TimeAmount.seconds(10), most: TimeAmount.seconds(60))
  /// Bytes that extend a body's limit by one second.
  var bodyBytesPerSecond = 65_536
  /// While an answer or an event stream is full and the client reads nothing.
  var unread = TimeAmount.seconds(30)
  /// How long events are kept after the last reader of the stream has left.
  var eventLinger = Duration.seconds(60)
  /// How long a server that is asked to end waits for the first request of a connection, if its socket stays and others follow.
  var lastRequest = TimeAmount.seconds(1)
  /// How long clients may read answers in progress once the server is asked to end.
  var shutdown = Duration.seconds(5)
}
