import Glibc

/// Why a file could not be used.
struct FileFailure: Error, Sendable, Equatable, CustomStringConvertible {
  let sentence: String
  /// Whether a later attempt may succeed: the disk is full, or broken.
  let isTemporary: Bool

  var description: String { sentence }

  init(_ sentence: String, isTemporary: Bool = false) {
    self.sentence = sentence
    self.isTemporary = isTemporary
  }

  /// - Parameter doing: A verb and its object, such as "open /a".
  init(doing: String, _ code: Int32 = errno) {
    let remedy =
      switch code {
      case EACCES, EPERM, EROFS: ": entitle the plugin to that directory"
      case EFBIG: ": the plugin may write files of 1 GiB, or as large as its limits.memory"
      default: ""
      }
    sentence = "cannot \(doing): \(String(cString: strerror(code)))\(remedy)"
    isTemporary = [ENOSPC, EDQUOT, EIO, EMFILE, ENFILE, ENOMEM].contains(code)
  }
}
