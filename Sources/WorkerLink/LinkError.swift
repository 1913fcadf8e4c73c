/// Why a link could not carry a message.
public enum LinkError: Error, Sendable, Hashable {
  /// The other end is closed, and everything it sent has been received.
  case closed
  /// The other end uses another version of the format.
  case version(found: UInt8)
  /// The bytes are not a message: `what` names the field and its flaw. The link is no longer usable.
  case malformed(what: String)
  /// The message is larger than ``LinkFormat/messageBytes`` and was not sent.
  case tooBig(bytes: Int)
  /// A system call failed with `code` (`errno`).
  case system(call: String, code: Int32)
}
