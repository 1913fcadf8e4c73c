import Glibc
import HTTPTransfer
import StrictText

/// One run of a batch: its transfers proceed on the calling thread, as many at once as are allowed.
final class BatchRun {
  /// What it needs of its surroundings.
  struct Environment {
    /// The request's id.
    let id: String
    /// Readable once the run is to end.
    let expiration: Int32
    let isExpired: () -> Bool
    /// Told about once a second.
    let progress: (_ completed: UInt64, _ total: UInt64, _ unit: String) -> Void
    /// Told about each transfer that has ended in this run, with the bytes of one that is done.
    let count: (_ isDone: Bool, _ bytesIn: Int64, _ bytesOut: Int64) -> Void
    /// Keeps the report for another run.
    let save: (TransferReport) throws -> Void
    let log: (String) -> Void
  }

  private enum Work {
    case download(Download)
    case upload(UploadSource)

    var size: Int64 {
      switch self {
      case .download(let download): download.size
      case .upload: 0
      }
    }
  }

  private let batch: TransferBatch
  private let settings: TransferSettings
  private let environment: Environment
  private let group: TransferGroup
  private let authorities: [UInt8]?
  private(set) var report: TransferReport
  private var work: [Int: Work] = [:]
  /// The transfers that have not begun in this run.
  private var queue: [Int]
  /// The longest delay that a server has asked for.
  private(set) var retryAfter: Duration?
  /// Whether bytes arrived or a transfer was done.
  private(set) var hasProgressed = false
  private var isSaved = true
  /// When the report was saved last. A save is a commit of the store, so the ends of small transfers share one.
  private var savedAt = ContinuousClock.now
  private static let saveInterval: Duration = .milliseconds(250)
  private let atOnce: Int

  init(_ batch: TransferBatch, _ settings: TransferSettings, _ report: TransferReport, _ environment: Environment) throws {
    (self.batch, self.settings, self.report, self.environment) = (batch, settings, report, environment)
    group = try TransferGroup()
    authorities = try settings.authorityFile.map { path in
      guard let text = SmallText.read(path, limit: 8 << 20) else { throw FileFailure("the authorities in \(path) cannot be read") }
      return text
    }
    atOnce = min(batch.atOnce ?? settings.atOnce, Self.most, batch.items.count)
    queue = report.items.indices.filter { report.items[$0].state == .waiting }.reversed()
  }

  /// Each transfer has a file and a connection; other batches need descriptors too.
  private static let most: Int = {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 50 }
    return max(1, (Int(clamping: limit.rlim_cur) - 50) / 2)
  }()

  /// Runs until every transfer has ended, or the run is to end. Transfers that may succeed later are left waiting.
  ///
  /// - Parameter isOver: Asked at the end of an expired run: whether nobody will go on with the parts.
  func run(isOver: () -> Bool) throws {
    while true {
      while work.count < atOnce, let next = queue.popLast() { begin(next) }
      if work.isEmpty { break }
      let ended = try group.step(milliseconds: 500, descriptor: environment.expiration)
      for (index, result) in ended { end(index, result) }
      tellProgress()
      if !isSaved, ContinuousClock.now - savedAt >= Self.saveInterval { try save() }
      if environment.isExpired() {
        let isOver = isOver()
        for (index, work) in work {
          if work.size > 0 { hasProgressed = true }
          if case .download(let download) = work { download.stop(isOver: isOver) }
          report.items[index].problem = nil
        }
        break
      }
    }
    try save()
  }

  private func save() throws {
    try environment.save(report)
    (isSaved, savedAt) = (true, .now)
  }

  private func tellProgress() {
    if batch.items.count > 1 {
      environment.progress(UInt64(report.count(.done) + report.count(.failed)), UInt64(batch.items.count), "transfers")
    } else if case .download(let download)? = work.values.first {
      environment.progress(UInt64(download.size), UInt64(download.total ?? 0), "bytes")
    }
  }

  // MARK: One transfer

  private func begin(_ index: Int) {
    let item = batch.items[index]
    report.items[index].attempts += 1
    do throws(FileFailure) {
      var request = TransferRequest(url: item.url)
      request.headers = batch.headers.map { ($0.name, $0.value) }
      if let file = batch.bearerTokenFile { request.headers.append(("Authorization", "Bearer \(try Self.token(in: file))")) }
      request.mostRedirects = 10
      request.moreAuthorities = authorities
      request.stallTimeout = settings.stallTimeout
      request.connectTimeout = .seconds(30)
      request.bytesPerSecond = settings.bytesPerSecond.map { max(1, $0 / Int64(atOnce)) }
      request.bufferSize = atOnce <= 8 ? 256 << 10 : 16 << 10
      let work: Work
      switch item.direction {
      case .download(let path, let sha256):
        let download = try Download(item.url, to: path, sha256: sha256, id: "\(environment.id.filter { $0 != "-" })-\(index)")
        download.prepare(&request)
        work = .download(download)
        try add(request, index) { download.take($0, $1) }
      case .upload(let path, let method):
        let source = try UploadSource(path)
        request.method = method
        request.upload = source.body
        work = .upload(source)
        try add(request, index) { source.take($1) }
      }
      self.work[index] = work
    } catch { fail(index, error.sentence, isTemporary: error.isTemporary) }
  }

  private func add(
    _ request: TransferRequest, _ index: Int, _ take: @escaping (TransferHead, UnsafeRawBufferPointer) -> Bool
  ) throws(FileFailure) {
    do throws(TransferFailure) { try group.add(request, id: index, take) } catch {
      throw FileFailure(error.description, isTemporary: error.isTemporary)
    }
  }

  private func end(_ index: Int, _ result: Result<TransferHead, TransferFailure>) {
    guard let work = work.removeValue(forKey: index) else { return }
    if case .success(let head) = result { report.items[index].status = head.status }
    let end: Download.End
    switch work {
    case .download(let download): end = download.end(result)
    case .upload(let source):
      end = source.end(result)
      let answer = source.answerText
      report.items[index].answer = answer.isEmpty ? nil : answer
    }
    isSaved = false
    switch end {
    case .done(let bytes):
      hasProgressed = true
      report.items[index].state = .done
      report.items[index].bytes = bytes
      report.items[index].problem = nil
      let isDownload = batch.items[index].isDownload
      environment.count(true, isDownload ? bytes : 0, isDownload ? 0 : bytes)
    case .again:
      // Once in a run: a server that never gives what it promised is left for later.
      if report.items[index].attempts < 20 {
        queue.append(index)
      } else {
        fail(index, "the server changes the content again and again", isTemporary: false)
      }
    case .failed(let problem, let isTemporary, let delay):
      if let delay { retryAfter = max(retryAfter ?? delay, delay) }
      // A token that has expired is refreshed meanwhile.
      let isToken = report.items[index].status == 401 && batch.bearerTokenFile != nil
      fail(index, problem, isTemporary: isTemporary || isToken)
    }
  }

  private func fail(_ index: Int, _ problem: String, isTemporary: Bool) {
    isSaved = false
    report.items[index].state = isTemporary ? .waiting : .failed
    report.items[index].problem = problem
    environment.count(false, 0, 0)
    environment.log("\(batch.items[index].path): \(problem)")
  }

  /// The access token in a file: the member `access_token` of an object, or the whole text.
  static func token(in file: String) throws(FileFailure) -> String {
    guard let text = SmallText.read(file, limit: 327_680) else {
      throw FileFailure("the access token in \(file) cannot be read", isTemporary: true)
    }
    let token: String
    if let node = try? JSONReader.read(text), case .object = node.value {
      guard let member = node["access_token"]?.string else { throw FileFailure("\(file) has no access_token", isTemporary: true) }
      token = member
    } else {
      token = String(decoding: text, as: UTF8.self).split(whereSeparator: \.isWhitespace).first.map(String.init) ?? ""
    }
    guard !token.isEmpty, token.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
      throw FileFailure("\(file) has no access token that fits into a header", isTemporary: true)
    }
    return token
  }
}
