/// Whether a process uses a file or directory, with the numbers of `taskhost.h`.
public enum FileUse: UInt8, Sendable, CaseIterable {
  /// The host cannot tell.
  case unknown = 0
  /// A process has the file open or mapped, runs it, or uses it as its working directory.
  case open = 1
  /// No process had the file open when the host looked.
  case notOpen = 2
}

extension FileUse {
  /// Decodes the answers from their form on the link.
  ///
  /// - Throws: `internal` if there are not `count` answers, or if an answer has an unknown value.
  public static func decoding(_ bytes: [UInt8], of count: Int) throws(CallFailure) -> [FileUse] {
    guard bytes.count == count else { throw CallFailure(.internal, "\(bytes.count) answers about \(count) files") }
    var uses: [FileUse] = []
    uses.reserveCapacity(count)
    for byte in bytes {
      guard let use = FileUse(rawValue: byte) else { throw CallFailure(.internal, "an answer about a file has the unknown value \(byte)") }
      uses.append(use)
    }
    return uses
  }
}
