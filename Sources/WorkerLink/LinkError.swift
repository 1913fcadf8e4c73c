/// Why a link could not carry a message.
public enum LinkError: Error, Sendable, Hashable {
  /// The other end is gone, and everything it had sent has been received.
  case closed
  /// The other end speaks another version of the format.
  case version(found: UInt8)
  /// The bytes are no message: `what` names the field and what is wrong with it. The link is of no use any more.
  case malformed(what: String)
  /// A message to be sent is larger than ``LinkFormat/messageBytes``. Nothing was sent.
  case tooBig(bytes: Int)
  /// A system call failed with that `errno`.
  case system(call: String, code: Int32)
}
