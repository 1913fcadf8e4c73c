import Glibc
import HTTPTransfer

/// The file of an upload, open from its begin to its end.
final class UploadSource {
  let body: TransferRequest.Upload
  private let path: String
  /// The time of its last change, as bytes.
  private let changed: [UInt8]
  private var answer: [UInt8] = []
  private static let answerLimit = 4096

  var size: Int64 { body.size }

  init(_ path: String) throws(FileFailure) {
    self.path = path
    let file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { throw FileFailure(doing: "open \(path)") }
    var info = stat()
    guard fstat(file, &info) == 0, info.st_mode & S_IFMT == S_IFREG else {
      close(file)
      throw FileFailure("\(path) is not an ordinary file")
    }
    body = TransferRequest.Upload(descriptor: file, size: Int64(info.st_size))
    changed = withUnsafeBytes(of: info.st_mtim) { Array($0) }
  }

  deinit { close(body.descriptor) }

  func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
    answer += bytes.prefix(Self.answerLimit - answer.count)
    return true
  }

  var answerText: String { String(decoding: answer, as: UTF8.self) }

  func end(_ result: Result<TransferHead, TransferFailure>) -> Download.End {
    switch result {
    case .failure(let failure): return .failed(failure.description, isTemporary: failure.isTemporary)
    case .success(let head) where !(200...299).contains(head.status):
      return .failed(
        "the server answered \(head.status)", isTemporary: Answers.isTemporary(head.status), retryAfter: Answers.retryAfter(head))
    case .success: break
    }
    var info = stat()
    guard fstat(body.descriptor, &info) == 0, info.st_size == body.size, withUnsafeBytes(of: info.st_mtim, { Array($0) }) == changed else {
      return .failed("\(path) was changed while it was sent", isTemporary: true)
    }
    return .done(bytes: body.size)
  }
}
