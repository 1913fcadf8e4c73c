/// Transfers whose token a server has refused (401). They go on at once when the token's file has changed, in this run if that happens
/// within ``patience``; otherwise they wait for another attempt.
struct TokenRefusals {
  /// The file of the token; nil if requests have none.
  private let file: String?
  /// The last token that was used.
  private var used: AccessToken?
  /// The file when it was looked at last.
  private var seen: FileStamp?
  private(set) var waiting: [Int] = []
  /// Says when to look at the file; nil if nothing waits, or if only looking again and again helps.
  private var watch: FolderWatch?
  /// Whether the file may have changed before it was watched.
  private var mustLook = false
  private var since = ContinuousClock.now
  /// How long a run waits for another token. A refresh takes seconds; somebody who has to sign in again takes longer.
  static let patience: Duration = .seconds(60)

  init(file: String?) { self.file = file }

  enum Next {
    case wait
    /// There is another token.
    case again([Int])
    /// There was none in time.
    case giveUp([Int])
  }

  /// The token for a request that begins now.
  mutating func token() throws(FileFailure) -> String? {
    guard let file else { return nil }
    let token = try AccessToken(file: file)
    (used, seen) = (token, token.stamp)
    return token.text
  }

  mutating func add(_ index: Int) {
    if waiting.isEmpty {
      since = .now
      watch = file.flatMap { FolderWatch(of: $0) }
    }
    waiting.append(index)
    mustLook = true
  }

  /// Readable when ``next()`` may have something else to say than to wait.
  var news: Int32? { watch?.descriptor }

  /// How long nothing but ``news`` needs a call of ``next()``.
  var idleTime: Duration { waiting.isEmpty || watch == nil ? .zero : max(.zero, Self.patience - (.now - since)) }

  mutating func next() -> Next {
    guard !waiting.isEmpty, let file else { return .wait }
    let isOver = .now - since >= Self.patience
    let hasNews = watch?.takeNews() ?? true
    guard hasNews || mustLook || isOver else { return .wait }
    mustLook = false
    let isChanged = hasAnotherToken(file)
    guard isChanged || isOver else { return .wait }
    defer { (waiting, watch) = ([], nil) }
    return isChanged ? .again(waiting) : .giveUp(waiting)
  }

  /// Whether the file was changed and has another token. One that is being written may have none, or a part.
  private mutating func hasAnotherToken(_ file: String) -> Bool {
    guard FileStamp(path: file) != seen, let token = try? AccessToken(file: file), let stamp = token.stamp else { return false }
    seen = stamp
    return token.text != used?.text
  }
}
