import TaskModel
import WorkerLink

/// Feeds bytes to both decoders of the worker link. What decodes must encode to the same bytes: every value has one encoding.
///
/// - Parameters:
///   - data: `size` bytes, borrowed for the call; NULL for none.
///   - size: How many.
@c(LLVMFuzzerTestOneInput) public func fuzz(_ data: UnsafePointer<UInt8>?, _ size: Int) -> Int32 {
  let bytes = Array(UnsafeBufferPointer(start: data, count: data == nil ? 0 : size))
  let received = ReceivedMessage(bytes: bytes)
  if let message = try? HostMessage(decoding: received) {
    let again = message.encode()
    precondition(again.bytes == bytes, "a host's message decodes from other bytes than it encodes to")
    precondition((try? HostMessage(decoding: ReceivedMessage(bytes: again.bytes))) == message, "a host's message does not survive")
  }
  if let message = try? WorkerMessage(decoding: received) {
    let again = message.encode()
    precondition(again.bytes == bytes, "a worker's message decodes from other bytes than it encodes to")
    precondition((try? WorkerMessage(decoding: ReceivedMessage(bytes: again.bytes))) == message, "a worker's message does not survive")
  }
  return 0
}
