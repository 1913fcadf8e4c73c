import HTTPTransfer

/// One download while it proceeds: it decides by the head of the answer what becomes of the part that is there.
final class Download {
  private let part: PartFile
  private let sha256: String?
  /// Whether the request asked for the rest of the part.
  private let asksForRest: Bool
  private let firstSize: Int64
  private var decision: Decision?
  /// The whole size, if the server told it.
  private(set) var total: Int64?

  private enum Decision {
    /// The body belongs to the part, and ends at this byte of the content, if that is known.
    case take(upTo: Int64?)
    /// The body is something else.
    case leave
    /// The answer contradicts the request, an earlier answer or itself.
    case beginAgain
    case fail(FileFailure)
  }

  var size: Int64 { part.size }
  /// The bytes that were taken from the server.
  private(set) var taken: Int64 = 0

  /// - Parameters:
  ///   - id: See ``PartFile``.
  ///   - bufferSize: See ``PartFile``.
  init(_ url: String, to path: String, sha256: String?, id: String, bufferSize: Int) throws(FileFailure) {
    part = try PartFile(of: path, url: url, id: id, bufferSize: bufferSize)
    self.sha256 = sha256
    firstSize = part.size
    asksForRest = part.size > 0
  }

  /// Adds what asks for the rest of the part.
  func prepare(_ request: inout TransferRequest) {
    // Without it, a server may choose any coding (RFC 9110 §12.5.3).
    if !request.headers.contains(where: { $0.name.lowercased() == "accept-encoding" }) {
      request.headers.append(("Accept-Encoding", "identity"))
    }
    guard asksForRest, let validator = part.note.validator else { return }
    request.headers.append(("Range", "bytes=\(part.size)-"))
    request.headers.append(("If-Range", validator))
  }

  /// Takes a part of the body. False ends the transfer.
  func take(_ head: TransferHead, _ bytes: UnsafeRawBufferPointer) -> Bool {
    taken += Int64(bytes.count)
    guard case .take(let end) = decided(head) else { return false }
    if let end, end - part.size < bytes.count {
      decision = .beginAgain
      return false
    }
    do throws(FileFailure) { try part.append(bytes) } catch {
      decision = .fail(error)
      return false
    }
    return true
  }

  /// Writes what has arrived to the file: there it outlives this process.
  func flush() {
    do throws(FileFailure) { try part.flush() } catch { decision = .fail(error) }
  }

  private func decided(_ head: TransferHead) -> Decision {
    if let decision { return decision }
    let decision = decide(head)
    self.decision = decision
    return decision
  }

  private func decide(_ head: TransferHead) -> Decision {
    switch head.status {
    case 200:
      // The server's content is another one than the part's, or it does not know ranges.
      switch head.bodySize {
      case .known(let size): total = size
      case .unknown: total = nil
      case .contradictory: return .fail(FileFailure("the server's Content-Length makes no sense", isTemporary: true))
      }
      do throws(FileFailure) { try part.begin(validator: Answers.validator(head), source: Self.source(head), total: total) } catch {
        return .fail(error)
      }
      return .take(upTo: total)
    case 206 where asksForRest:
      guard case .part(let first, let last, let total)? = head.contentRange, first == part.size, isSameContent(head, total: total) else {
        return .beginAgain
      }
      if case .known(let size) = head.bodySize, size != last - first + 1 { return .beginAgain }
      if case .contradictory = head.bodySize { return .beginAgain }
      self.total = total ?? part.note.total
      return .take(upTo: last + 1)
    case 416 where asksForRest:
      // The part is whole already, if it has as many bytes as the content, and the server has not told another size or tag before.
      let isWhole = head.contentRange == .unsatisfied(total: part.size) && (part.note.total ?? part.size) == part.size
      return isWhole && head.values("etag").allSatisfy { $0 == part.note.validator } ? .take(upTo: part.size) : .beginAgain
    default: return .leave
    }
  }

  /// Whether a 206 has bytes of the content that the part has.
  private func isSameContent(_ head: TransferHead, total: Int64?) -> Bool {
    // A 206 repeats the tag (RFC 9110 §15.3.7). Without it, nothing says that the server heeded If-Range.
    guard let validator = part.note.validator, head.values("etag") == [validator] else { return false }
    if let total, let earlier = part.note.total, total != earlier { return false }
    return !Answers.isCoded(head) && !Answers.isMultipart(head) && Self.source(head) == part.note.source
  }

  /// Where the content came from. Entity tags of two places have nothing to do with each other; what a query has may change with time.
  private static func source(_ head: TransferHead) -> String? { TransferURL(head.url)?.withoutQuery }

  /// Concludes after the last byte. Keeps the part if another attempt may go on with it.
  func end(_ result: Result<TransferHead, TransferFailure>) -> WorkEnd {
    let end = conclude(result)
    switch end {
    case .done: break
    case .goOn: do { try part.flush() } catch { return .failed(error) }
    case .again: do { try part.begin(validator: nil, source: nil, total: nil) } catch { return .failed(error) }
    case .failed(_, let isTemporary, _): if isTemporary { part.keep() } else { part.remove() }
    }
    return end
  }

  private func conclude(_ result: Result<TransferHead, TransferFailure>) -> WorkEnd {
    // What the answer was decided to be comes first: then the transfer was ended here.
    if case .fail(let failure)? = decision { return .failed(failure) }
    if case .beginAgain? = decision { return .again }
    let head: TransferHead
    switch result {
    case .failure(let failure): return .failed(failure.description, isTemporary: failure.isTemporary)
    case .success(let answer): head = answer
    }
    // An empty body was never taken.
    switch decided(head) {
    case .fail(let failure): return .failed(failure)
    case .beginAgain: return .again
    case .leave:
      return .failed("the server answered \(head.status)", isTemporary: Answers.isTemporary(head.status), retryAfter: head.retryAfter)
    case .take(let end):
      if let end, part.size < end { return .failed("the server sent \(part.size) of \(end) bytes", isTemporary: true) }
      guard head.status != 206 || part.size == total else {
        // The range ends before the content, or may do so.
        return part.size > firstSize ? .goOn : .again
      }
    }
    let bytes = part.size
    do throws(FileFailure) { try part.finish(sha256: sha256) } catch { return .failed(error) }
    return .done(bytes: bytes)
  }

  /// Ends without the rest.
  ///
  /// - Parameter isOver: Whether nobody will go on with the part.
  func stop(isOver: Bool) {
    if isOver { part.remove() } else { part.keep() }
  }
}
