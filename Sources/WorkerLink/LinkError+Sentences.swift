import Glibc

extension LinkError: CustomStringConvertible {
  /// What happened and what to do.
  public var description: String {
    switch self {
    case .closed: "the other end of the worker link is gone: a worker that ended is started anew, a host is to be restarted"
    case .version(let found):
      "the worker link speaks version \(found), this program \(LinkFormat.version): install taskhost and taskhost-worker of one release"
    case .malformed(let what):
      "a message of the worker link is malformed (\(what)): end the worker; if its plugin is to be trusted, report this as a defect"
    case .tooBig(let bytes):
      "a message of \(bytes) bytes does not go through the worker link, which takes \(LinkFormat.messageBytes): submit or keep less at once"
    case .system(let call, let code): "\(call) on the worker link failed: \(String(cString: strerror(code)))"
    }
  }
}
