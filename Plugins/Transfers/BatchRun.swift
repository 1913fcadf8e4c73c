import Glibc
import HTTPTransfer
import StrictText
import TransferOrders

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
    case upload(Upload)
  }

  private var pace: Pace

  private let batch: TransferBatch
  private let settings: TransferSettings
  private let environment: Environment
  private let group: TransferGroup
  private let authorities: [UInt8]?
  private(set) var report: TransferReport
  private var work: [Int: Work] = [:]
  /// Uploads that take another step at once.
  private var steps: [Int: Upload] = [:]
  /// The transfers that have not begun in this run.
  private var queue: [Int]
  /// How often a transfer began again in this run.
  private var restarts: [Int: Int] = [:]
  /// A server that never gives what it promised is given up after that.
  private static let mostRestarts = 20
  private var refusals: TokenRefusals
  /// Whether a transfer waits because its token is missing, or its server refuses it.
  private(set) var lacksToken = false
  /// The longest delay that a server has asked for.
  private(set) var retryAfter: Duration?
  /// Whether bytes arrived or a transfer was done.
  private(set) var hasProgressed = false
  private var isSaved = true
  private var mustSave = false
  /// When the report was saved last. A save is a commit of the store, so the ends of small transfers share one.
  private var savedAt = ContinuousClock.now
  private static let saveInterval: Duration = .milliseconds(250)
  private let atOnce: Int

  init(_ batch: TransferBatch, _ settings: TransferSettings, _ report: TransferReport, _ environment: Environment) throws {
    (self.batch, self.settings, self.report, self.environment) = (batch, settings, report, environment)
    group = try TransferGroup(bytesPerSecond: settings.bytesPerSecond)
    pace = Pace(settings.bytesPerSecond)
    authorities = try settings.authorityFile.map { path in
      do throws(SmallText.Unreadable) { return try SmallText.read(path, limit: 8 << 20) } catch {
        throw FileFailure("the authorities in \(path) cannot be read: \(error.words)")
      }
    }
    atOnce = min(batch.atOnce ?? settings.atOnce, Self.most, batch.items.count)
    queue = report.items.indices.filter { report.items[$0].state == .waiting }.reversed()
    refusals = TokenRefusals(file: batch.bearerTokenFile)
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
      let isPaced = !beginMore()
      if work.isEmpty, queue.isEmpty, refusals.waiting.isEmpty { break }
      let ended = try group.step(
        milliseconds: stepTime(isPaced), descriptors: [environment.expiration, refusals.news].compactMap { $0 })
      for (index, result) in ended { end(index, result) }
      if !isSaved, mustSave || ContinuousClock.now - savedAt >= Self.saveInterval { try save() }
      flush()
      tellProgress()
      if environment.isExpired() {
        stop(isOver: isOver())
        break
      }
      goOnAfterRefusals()
    }
    try save()
  }

  /// The longest step, in milliseconds. What proceeds is written and told twice a second; while everything waits for a token,
  /// there is nothing to write or tell.
  private func stepTime(_ isPaced: Bool) -> Int {
    if isPaced { return Pace.interval }
    return max(500, work.isEmpty && isSaved ? Int(refusals.idleTime / .milliseconds(1)) : 0)
  }

  /// Begins as many transfers as may proceed. False if one has to wait for the rate.
  private func beginMore() -> Bool {
    while work.count < atOnce, !queue.isEmpty {
      if pace.isLimited, !pace.mayBegin(underway: work.reduce(0) { $0 + moved($1.key, $1.value) }) { return false }
      if let next = queue.popLast() { begin(next) }
    }
    return true
  }

  /// The bytes that a transfer has moved since it began.
  private func moved(_ index: Int, _ work: Work) -> Int64 {
    switch work {
    case .download(let download): download.taken
    case .upload: group.uploaded(index)
    }
  }

  private func stop(isOver: Bool) {
    for (index, work) in work {
      switch work {
      case .download(let download):
        if download.size > 0 { hasProgressed = true }
        download.stop(isOver: isOver)
      case .upload(let upload):
        // Without a place to go on, another run sends these bytes again.
        if upload.resumption != nil, upload.isKept, group.uploaded(index) > 0 { hasProgressed = true }
      }
      report.items[index].problem = nil
    }
    if isOver { for index in batch.items.indices { removePart(index) } }
  }

  /// Writes what has arrived, before it is told as progress.
  private func flush() {
    for case .download(let download) in work.values { download.flush() }
  }

  private func save() throws {
    try environment.save(report)
    (isSaved, mustSave, savedAt) = (true, false, .now)
  }

  private func tellProgress() {
    if batch.items.count > 1 {
      environment.progress(UInt64(report.count(.done) + report.count(.failed)), UInt64(batch.items.count), "transfers")
    } else {
      switch work.values.first {
      case .download(let download): environment.progress(UInt64(clamping: download.size), UInt64(clamping: download.total ?? 0), "bytes")
      case .upload(let upload):
        environment.progress(UInt64(clamping: upload.offset + group.uploaded(0)), UInt64(clamping: upload.size), "bytes")
      case nil: break
      }
    }
  }

  // MARK: One transfer

  private func begin(_ index: Int) {
    let item = batch.items[index]
    let step = steps.removeValue(forKey: index)
    if step == nil { report.items[index].attempts += 1 }
    do throws(FileFailure) {
      var request = try request(item)
      let work: Work
      switch item.direction {
      case .download(let path, let sha256):
        let download = try Download(
          item.url, to: path, sha256: sha256, id: PartLedger.partID(environment.id, index), bufferSize: isFew ? 128 << 10 : 0)
        download.prepare(&request)
        work = .download(download)
        try add(request, index) { download.take($0, $1) }
      case .upload(let path, let method):
        let upload: Upload
        if let step { upload = step } else { upload = try Upload(path, resumption: report.items[index].resumption) }
        upload.prepare(&request, method: method)
        work = .upload(upload)
        try add(request, index) {
          upload.take($1)
        } interim: { [unowned self] head in
          if upload.takeInterim(head) { note(upload.resumption, of: index) }
        }
        if step == nil { note(upload.resumption, of: index) }
      }
      self.work[index] = work
    } catch { fail(index, error.sentence, isTemporary: error.isTemporary) }
  }

  /// Whether each transfer may have large buffers.
  private var isFew: Bool { atOnce <= 8 }

  private func request(_ item: TransferBatch.Item) throws(FileFailure) -> TransferRequest {
    var request = TransferRequest(url: item.url)
    request.headers = batch.headers.map { ($0.name, $0.value) }
    do throws(FileFailure) {
      if let token = try refusals.token() { request.headers.append(("Authorization", "Bearer \(token)")) }
    } catch {
      lacksToken = lacksToken || error.isTemporary
      throw error
    }
    request.moreAuthorities = authorities
    request.stallTimeout = settings.stallTimeout
    request.connectTimeout = .seconds(30)
    request.bufferSize = isFew && settings.bytesPerSecond == nil ? 256 << 10 : 16 << 10
    return request
  }

  private func add(
    _ request: TransferRequest, _ index: Int, _ take: @escaping (TransferHead, UnsafeRawBufferPointer) -> Bool,
    interim: @escaping (TransferHead) -> Void = { _ in }
  ) throws(FileFailure) {
    do throws(TransferFailure) { try group.add(request, id: index, mostRedirects: 10, interim: interim, take) } catch {
      throw FileFailure(error.description, isTemporary: error.isTemporary)
    }
  }

  private func note(_ resumption: Upload.Resumption?, of index: Int) {
    guard report.items[index].resumption != resumption else { return }
    report.items[index].resumption = resumption
    isSaved = false
    // What was sent so far is lost if the host ends before this is saved.
    mustSave = true
  }

  private func end(_ index: Int, _ result: Result<TransferHead, TransferFailure>) {
    guard let work = work.removeValue(forKey: index) else { return }
    if case .download(let download) = work { pace.add(download.taken) }
    if case .success(let head) = result { report.items[index].status = head.status }
    let end: WorkEnd
    switch work {
    case .download(let download): end = download.end(result)
    case .upload(let upload):
      let offset = upload.offset
      end = upload.end(result)
      let answer = upload.answer(mostBytes: min(4096, Self.answerBytes / batch.items.count))
      report.items[index].answer = answer.isEmpty ? nil : answer
      note(upload.resumption, of: index)
      if case .done(let bytes) = end { pace.add(bytes - offset) }
    }
    isSaved = false
    switch end {
    case .done(let bytes): done(index, bytes)
    case .goOn, .again:
      if case .upload(let upload) = work { steps[index] = upload }
      if case .again = end { restarts[index, default: 0] += 1 }
      if restarts[index, default: 0] <= Self.mostRestarts {
        queue.append(index)
      } else {
        let what = batch.items[index].isDownload ? "changes the content" : "forgets what it has, or where it ends,"
        fail(index, "the server \(what) again and again", isTemporary: false)
      }
    case .failed(let problem, let isTemporary, let delay):
      if let delay { retryAfter = max(retryAfter ?? delay, delay) }
      if report.items[index].status == 401, case .success = result, let file = batch.bearerTokenFile {
        report.items[index].problem = "\(problem): the token in \(file) is not accepted"
        refusals.add(index)
      } else {
        fail(index, problem, isTemporary: isTemporary)
      }
    }
  }

  /// What the answers to all uploads together may add to the report, which is a checkpoint: that has 1 MiB.
  private static let answerBytes = 400_000

  private func done(_ index: Int, _ bytes: Int64) {
    hasProgressed = true
    report.items[index].state = .done
    report.items[index].bytes = bytes
    report.items[index].problem = nil
    report.items[index].resumption = nil
    let isDownload = batch.items[index].isDownload
    environment.count(true, isDownload ? bytes : 0, isDownload ? 0 : bytes)
  }

  /// Goes on with what a server refused the token of, once there is another token; gives up for this run after a while.
  private func goOnAfterRefusals() {
    switch refusals.next() {
    case .wait: break
    case .again(let indices): queue += indices
    case .giveUp(let indices):
      lacksToken = true
      for index in indices { fail(index, report.items[index].problem ?? "401", isTemporary: true) }
    }
  }

  private func fail(_ index: Int, _ problem: String, isTemporary: Bool) {
    isSaved = false
    report.items[index].state = isTemporary ? .waiting : .failed
    report.items[index].problem = problem
    if !isTemporary { removePart(index) }
    environment.count(false, 0, 0)
    environment.log("\(batch.items[index].path): \(problem)")
  }

  private func removePart(_ index: Int) {
    let item = batch.items[index]
    if item.isDownload { PartFile.remove(of: item.path, id: PartLedger.partID(environment.id, index)) }
  }
}
