import HTTPTransfer

/// One download while it proceeds: it decides by the head of the answer what becomes of the part that is there.
final class Download {
  private let part: PartFile
  private let url: String
  private let sha256: String?
  /// Whether the request asked for the rest of the part.
  private let asksForRest: Bool
  private var isDecided = false
  /// Whether the body belongs to the part.
  private var isWanted = false
  /// The whole size, if the server told it.
  private(set) var total: Int64?
  private var failure: FileFailure?
  private var mustBeginAgain = false

  var size: Int64 { part.size }

  /// - Parameter id: See ``PartFile``.
  init(_ url: String, to path: String, sha256: String?, id: String) throws(FileFailure) {
    part = try PartFile(of: path, url: url, id: id)
    self.url = url
    self.sha256 = sha256
    asksForRest = part.size > 0
  }

  /// Adds what asks for the rest of the part.
  func prepare(_ request: inout TransferRequest) {
    guard asksForRest, let validator = part.note.validator else { return }
    request.headers.append(("Range", "bytes=\(part.size)-"))
    request.headers.append(("If-Range", validator))
  }

  /// Takes a part of the body. False ends the transfer.
  func take(_ head: TransferHead, _ bytes: UnsafeRawBufferPointer) -> Bool {
    if !isDecided { decide(head) }
    guard isWanted else { return false }
    do throws(FileFailure) { try part.append(bytes) } catch {
      failure = error
      return false
    }
    return true
  }

  private func decide(_ head: TransferHead) {
    isDecided = true
    switch head.status {
    case 200:
      do throws(FileFailure) {
        // The server's content is another one than the part's, or it does not know ranges.
        try part.begin(validator: Answers.validator(head))
        total = Answers.length(head)
        isWanted = true
      } catch { failure = error }
    case 206 where asksForRest:
      let tag = Answers.validator(head)
      guard let range = Answers.contentRange(head), range.first == part.size, tag == nil || tag == part.note.validator else {
        mustBeginAgain = true
        return
      }
      total = range.total
      isWanted = true
    default: break
    }
  }

  /// How a transfer ended.
  enum End {
    case done(bytes: Int64)
    /// Once more, from the first byte.
    case again
    case failed(String, isTemporary: Bool, retryAfter: Duration? = nil)
  }

  /// Concludes after the last byte. Keeps the part if another attempt may go on with it.
  func end(_ result: Result<TransferHead, TransferFailure>) -> End {
    let end = conclude(result)
    switch end {
    case .done: break
    case .again: do { try part.begin(validator: nil) } catch { return .failed(error.sentence, isTemporary: error.isTemporary) }
    case .failed(_, let isTemporary, _): if isTemporary { part.keep() } else { part.remove() }
    }
    return end
  }

  private func conclude(_ result: Result<TransferHead, TransferFailure>) -> End {
    if let failure { return .failed(failure.sentence, isTemporary: failure.isTemporary) }
    let head: TransferHead
    switch result {
    case .failure(let failure): return .failed(failure.description, isTemporary: failure.isTemporary)
    case .success(let answer): head = answer
    }
    // An empty body was never taken.
    if !isDecided { decide(head) }
    if let failure { return .failed(failure.sentence, isTemporary: failure.isTemporary) }
    if mustBeginAgain { return .again }
    if head.status == 416, asksForRest {
      // The part is whole already, if it has as many bytes as the content.
      guard Answers.unsatisfiedSize(head) == part.size else { return .again }
      isWanted = true
    }
    guard isWanted else {
      let isTemporary = Answers.isTemporary(head.status)
      return .failed("the server answered \(head.status)", isTemporary: isTemporary, retryAfter: Answers.retryAfter(head))
    }
    if let total, total != part.size {
      return .failed("the server sent \(part.size) of \(total) bytes", isTemporary: true)
    }
    let bytes = part.size
    do throws(FileFailure) { try part.finish(sha256: sha256) } catch { return .failed(error.sentence, isTemporary: error.isTemporary) }
    return .done(bytes: bytes)
  }

  /// Ends without the rest.
  ///
  /// - Parameter isOver: Whether nobody will go on with the part.
  func stop(isOver: Bool) {
    if isOver { part.remove() } else { part.keep() }
  }
}

extension TransferFailure {
  /// Whether another attempt may succeed.
  var isTemporary: Bool {
    switch self {
    case .invalidRequest, .unusableAuthorities, .untrusted, .headTooLarge, .bodyTooLarge: false
    case .unresolved, .unreachable, .connectTimedOut, .timedOut, .insecure, .cancelled, .broken: true
    }
  }
}
