import Glibc
import HTTPTransfer
import StrictText
import TransferOrders

/// One upload while it proceeds, its file open from begin to end.
///
/// It can be resumed if the server says so with an interim answer 104 and an address (draft-ietf-httpbis-resumable-upload, interop version
/// 6): an attempt after a break asks that address how much has arrived, and sends the rest there. All uploads offer it; a server that does
/// not know it ignores two headers.
final class Upload {
  typealias Resumption = TransferReport.Resumption

  private enum Step {
    case create
    case askOffset(Resumption)
    case append(Resumption, from: Int64)
  }

  private let path: String
  private let descriptor: Int32
  private let stamp: FileStamp
  private var step: Step
  private var answer: [UInt8] = []
  private static let answerLimit = 4096
  static let interopVersion = "6"

  /// Where the upload can go on, if it breaks.
  private(set) var resumption: Resumption?

  /// Whether the server has kept what was sent earlier: what is sent now is progress.
  private(set) var isKept = true

  var size: Int64 { stamp.size }
  /// Where what is sent now begins.
  var offset: Int64 { if case .append(_, let offset) = step { offset } else { 0 } }

  /// - Parameter resumption: Of an earlier attempt. It does not count if the file has changed since.
  init(_ path: String, resumption: Resumption?) throws(FileFailure) {
    self.path = path
    descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { throw FileFailure(doing: "open \(path)") }
    var info = stat()
    guard fstat(descriptor, &info) == 0, info.st_mode & S_IFMT == S_IFREG, let stamp = FileStamp(descriptor: descriptor) else {
      close(descriptor)
      throw FileFailure("\(path) is not an ordinary file")
    }
    self.stamp = stamp
    self.resumption = resumption.flatMap { $0.file == stamp.text ? $0 : nil }
    step = self.resumption.map { .askOffset($0) } ?? .create
  }

  deinit { close(descriptor) }

  /// Makes `request`, which has the address and the headers of the transfer, the next one of this upload.
  func prepare(_ request: inout TransferRequest, method: String) {
    answer = []
    request.headers.append(("Upload-Draft-Interop-Version", Self.interopVersion))
    switch step {
    case .create:
      request.method = method
      request.headers.append(("Upload-Complete", "?1"))
      request.upload = .init(descriptor: descriptor, size: stamp.size)
    case .askOffset(let place):
      request.move(to: place.url)
      request.method = "HEAD"
    case .append(let place, let offset):
      request.move(to: place.url)
      request.method = "PATCH"
      request.headers.removeAll { $0.name.lowercased() == "content-type" }
      request.headers += [
        ("Content-Type", "application/partial-upload"), ("Upload-Offset", "\(offset)"), ("Upload-Complete", "?1"),
      ]
      // What the server has of a part that broke, only the server knows.
      request.upload = .init(descriptor: descriptor, start: offset, size: stamp.size - offset, isSentOnce: true)
    }
  }

  /// Takes an interim answer; true if it tells where the upload can go on.
  func takeInterim(_ head: TransferHead) -> Bool {
    guard case .create = step, head.status == 104, let place = head.values("location").first, place.utf8.count < 2000,
      let here = TransferURL(head.url), let url = here.resolve(place), url.scheme == "https" || here.scheme == "http"
    else { return false }
    let found = Resumption(url: url.text, file: stamp.text)
    guard found != resumption else { return false }
    resumption = found
    return true
  }

  func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
    answer += bytes.prefix(Self.answerLimit - answer.count)
    return true
  }

  /// The body of the last answer, as text.
  func answer(mostBytes: Int) -> String { String(decoding: answer.prefix(mostBytes), as: UTF8.self) }

  func end(_ result: Result<TransferHead, TransferFailure>) -> WorkEnd {
    switch result {
    case .failure(let failure): return .failed(failure.description, isTemporary: failure.isTemporary)
    case .success(let head):
      switch step {
      case .create: return concluded(head)
      case .askOffset(let place): return offset(head, place)
      case .append(let place, _):
        if head.status == 409 {
          // Another part has arrived than the server told. It may say so each time.
          step = .askOffset(place)
          return .again
        }
        return Self.isGone(head.status) ? beginAgain() : concluded(head)
      }
    }
  }

  private func concluded(_ head: TransferHead) -> WorkEnd {
    guard (200...299).contains(head.status) else {
      return .failed("the server answered \(head.status)", isTemporary: Answers.isTemporary(head.status), retryAfter: head.retryAfter)
    }
    guard FileStamp(descriptor: descriptor) == stamp else {
      resumption = nil
      return .failed("\(path) was changed while it was sent", isTemporary: true)
    }
    return .done(bytes: stamp.size)
  }

  /// Reads how much the server has.
  private func offset(_ head: TransferHead, _ place: Resumption) -> WorkEnd {
    guard (200...299).contains(head.status) else {
      // What is temporary, or needs another token, may find the upload later.
      return Answers.isTemporary(head.status) || head.status == 401 ? concluded(head) : beginAgain()
    }
    guard let offset = head.values("upload-offset").first.flatMap({ HeaderNumber.read($0) }), offset <= stamp.size else {
      return beginAgain()
    }
    // Everything has arrived, but the answer was lost.
    if head.values("upload-complete").first == "?1" { return concluded(head) }
    isKept = offset > place.offset ?? 0
    var place = place
    place.offset = offset
    resumption = place
    step = .append(place, from: offset)
    return .goOn
  }

  private func beginAgain() -> WorkEnd {
    isKept = false
    resumption = nil
    step = .create
    return .again
  }

  /// Statuses of a server that does not know the upload, or cannot go on with it.
  private static func isGone(_ status: Int) -> Bool { [400, 404, 405, 410, 412, 415, 501].contains(status) }
}

extension TransferRequest {
  /// Asks elsewhere. What says who asks stays at its origin, as with a redirect.
  fileprivate mutating func move(to place: String) {
    if TransferURL(url)?.origin != TransferURL(place)?.origin { headers.removeAll { !TransferRequest.isHarmless($0.name) } }
    url = place
  }
}
