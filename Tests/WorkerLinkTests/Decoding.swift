import WorkerLink

/// What both decoders make of bytes; at most one of them knows a kind.
enum Decoding: Equatable {
  case host(HostMessage)
  case worker(WorkerMessage)
  case refused(LinkError, LinkError)

  init(_ bytes: [UInt8]) {
    let received = ReceivedMessage(bytes: bytes)
    do throws(LinkError) {
      self = .host(try HostMessage(decoding: received))
    } catch let hosts {
      do throws(LinkError) { self = .worker(try WorkerMessage(decoding: received)) } catch { self = .refused(hosts, error) }
    }
  }

  /// The message's bytes again; nil for none.
  var encoded: [UInt8]? {
    switch self {
    case .host(let message): message.encode().bytes
    case .worker(let message): message.encode().bytes
    case .refused: nil
    }
  }

  var isRefused: Bool { encoded == nil }
}
