#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// What became of the files of a transfer, all of which have ended.
public struct TransferCompletion: Sendable {
  /// One file.
  public struct Item: Sendable, Hashable {
    /// The address.
    public let url: String
    /// The path that the transfer was submitted with; of a download that succeeded, the file is there.
    public let path: String
    /// Whether it is a download.
    public let isDownload: Bool
    /// Why it failed; `nil` if it did not.
    public let problem: String?
    /// The status of the server's last answer, if the report has it: that of a long batch names only what failed.
    public let status: Int?
    /// What the server answered to an upload, at most 4 KiB.
    public let answer: String?
  }

  /// The transfer's id.
  public let id: String
  /// Its files, in the order of their submission.
  public let items: [Item]

  /// Whether all files were transferred.
  public var isSuccess: Bool { items.allSatisfy { $0.problem == nil } }

  /// Reads a run's payload, and moves what has arrived to where it belongs.
  ///
  /// - Returns: `nil` if the payload is not the report of a transfer of this plugin.
  /// - Throws: ``TaskFailure`` if a file cannot be moved now, ``TaskHostError``.
  package init?(of run: RunHandle) throws {
    guard let ended = try EndedTransfer(of: run) else { return nil }
    id = ended.id
    items = try ended.items.map { item in
      let path = item.info.path ?? item.info.stagedPath
      var problem = item.problem
      if item.info.isDownload, problem == nil, path != item.info.stagedPath { problem = try Self.place(item.info.stagedPath, at: path) }
      return Item(
        url: item.info.url, path: path, isDownload: item.info.isDownload, problem: problem, status: item.status, answer: item.answer)
    }
    staged = ended.items.filter { !$0.info.isDownload && $0.info.path != nil }.map(\.info.stagedPath)
  }

  /// The copies of files that were uploaded.
  private let staged: [String]

  /// Moves a download to its place, unless an earlier run has done so.
  ///
  /// - Returns: Why there is nothing to move; `nil` if the file is in its place.
  private static func place(_ staged: String, at path: String) throws -> String? {
    // A file in the folder is whole: the host gives it its name when it is.
    if access(staged, F_OK) == 0 {
      try StagedFile.move(staged, to: path)
      return nil
    }
    return access(path, F_OK) == 0 ? nil : "it did not arrive"
  }

  /// Calls `body`, and removes the copies of uploads unless it is to be called again.
  func deliver(_ body: @Sendable (TransferCompletion) async throws -> TaskResult) async throws -> TaskResult {
    let result = try await body(self)
    switch result {
    case .success, .noop, .failure: for path in staged { unlink(path) }
    case .retry, .snooze: break
    }
    return result
  }
}
