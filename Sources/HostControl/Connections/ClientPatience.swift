import NIOCore
import TaskModel

/// How long a client may keep the host waiting before its connection is closed, so that idle and slow clients do not exhaust the host.
struct ClientPatience: Sendable {
  /// Until the first request's head has arrived, and from the first byte of a later one until its head has.
  var head = TimeAmount.seconds(5)
  /// Without a further request.
  var idle = TimeAmount.seconds(30)
  /// Until a request's body has arrived: to begin with, and at most. Between the two, what has arrived gives more time.
  var body = (first: TimeAmount.seconds(10), most: TimeAmount.seconds(60))
  /// How many bytes give a body one more second.
  var bodyBytesPerSecond = 65_536
  /// Without reading anything of an answer or an event stream that is full.
  var unread = TimeAmount.seconds(30)
  /// How long events are held on after the last reader of the stream has gone.
  var eventLinger = Duration.seconds(60)
  /// Until an answer that is being written is read, once the server is asked to end.
  var shutdown = Duration.seconds(5)
}
