import FoundationEssentials

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A plugin's transfers: see ``TaskContext/transfers``.
public struct Transfers: Sendable {
  package let run: RunHandle

  /// The plugin that carries transfers out.
  static let carrier = "org.taskhost.transfers"

  package init(run: RunHandle) { self.run = run }

  /// Submits a download. Durable when it returns.
  ///
  /// - Parameters:
  ///   - url: `https://` or `http://`.
  ///   - path: The absolute path to which the file is moved when it is whole.
  ///   - sha256: What the content must have, as 64 hexadecimal digits.
  /// - Throws: ``TaskHostError`` as ``submit(_:options:)``.
  @discardableResult
  public func download(
    _ url: String, to path: String, sha256: String? = nil, options: TransferOptions = TransferOptions()
  ) throws -> Submission {
    try submit([.download(url, to: path, sha256: sha256)], options: options)
  }

  /// Submits an upload. Durable when it returns. The file is linked or copied, so it may be replaced or removed, but not changed, meanwhile.
  ///
  /// - Throws: ``TaskHostError`` as ``submit(_:options:)``.
  @discardableResult
  public func upload(
    _ path: String, to url: String, method: String = "PUT", options: TransferOptions = TransferOptions()
  ) throws -> Submission {
    try submit([.upload(path, to: url, method: method)], options: options)
  }

  /// Submits a batch, which ends as a whole. Durable when it returns.
  ///
  /// - Throws: ``TaskHostError`` with the code `notPermitted` if the operator has not set `may_transfer`, or the plugin's own entitlements do
  ///   not cover the addresses or the token; `invalid`, `tooBig` (some 250 files have room), `limit`, `unsupported`, `unavailable`, `stale`.
  ///   `CocoaError` if the file of an upload cannot be read.
  @discardableResult
  public func submit(_ transfers: [Transfer], options: TransferOptions = TransferOptions()) throws -> Submission {
    try submit(transfers.map { ($0, $0.path) }, options: options)
  }

  /// As ``submit(_:options:)``, with a text of each that the host keeps: where a download belongs, unless something else reads it.
  package func submit(_ transfers: [(transfer: Transfer, context: String)], options: TransferOptions) throws -> Submission {
    let table = try TransfersTable(run)
    let folder = try table.folder()
    let batch = String(UInt64.random(in: .min ... .max), radix: 36)
    var staged: [String] = []
    do {
      var items: [Payload.Item] = []
      for (index, (transfer, context)) in transfers.enumerated() {
        let name = "\(batch)-\(index)"
        var item = Payload.Item(url: transfer.url, sha256: transfer.sha256, context: context)
        switch transfer.direction {
        case .download: item.to = name
        case .upload(let path, let method):
          (item.from, item.method) = (name, method)
          try StagedFile.put(path, at: "\(folder)/\(name)")
          staged.append("\(folder)/\(name)")
        }
        items.append(item)
      }
      var request = TaskRequest(identifier: Self.carrier, conditions: options.required)
      request.payload = try JSON.encode(
        Payload(
          items: items, headers: options.headers.isEmpty ? nil : options.headers, bearer_token_file: options.bearerTokenFile,
          notify: options.launchesHandler ? true : nil, at_once: options.atOnce))
      (request.earliestBegin, request.deadline, request.retry) = (options.earliestBegin, options.deadline, options.retry)
      (request.priority, request.tags) = (options.priority, options.tags)
      return try table.submit(request)
    } catch {
      for path in staged { unlink(path) }
      throw error
    }
  }

  /// Lists the plugin's live transfers, the newest first, at most 1,000.
  ///
  /// - Throws: ``TaskHostError`` with the code `limit` (ask again later), `unavailable` or `stale`.
  public func list() throws -> [TransferInfo] { try TransfersTable(run).list().map { try TransferInfo(json: $0) } }

  /// Returns a transfer of the plugin, live or ended.
  ///
  /// - Throws: ``TaskHostError`` with the code `notFound`, and as ``list()``.
  public func show(_ id: String) throws -> TransferInfo { try TransferInfo(json: TransfersTable(run).show(id)) }

  /// Cancels a transfer, and removes what has arrived of it.
  ///
  /// - Throws: ``TaskHostError`` with the code `notFound` if the plugin has no such live transfer; `unavailable` or `stale`.
  public func cancel(_ id: String) throws {
    let info = try? show(id)
    try TransfersTable(run).cancel(id)
    for item in info?.items ?? [] { unlink(item.stagedPath) }
  }

  /// Holds a transfer back until it is resumed. One that proceeds stops in mid-file, and keeps what has arrived.
  ///
  /// - Throws: ``TaskHostError`` as ``cancel(_:)``.
  public func pause(_ id: String) throws { try TransfersTable(run).pause(id) }

  /// Ends the plugin's own pause of a transfer. It goes on, unless an operator holds it back too: only the operator ends that pause.
  ///
  /// - Throws: ``TaskHostError`` as ``cancel(_:)``.
  public func resume(_ id: String) throws { try TransfersTable(run).resume(id) }

  /// The payload of a request of the carrier.
  struct Payload: Encodable {
    struct Item: Encodable {
      var url: String
      var to, from, method: String?
      var sha256: String?
      var context: String?

      init(url: String, sha256: String?, context: String) {
        (self.url, self.sha256, self.context) = (url, sha256, context)
      }
    }

    var items: [Item]
    var headers: [String: String]?
    var bearer_token_file: String?
    var notify: Bool?
    var at_once: Int?
  }
}

extension TaskContext {
  /// Downloads and uploads that the host carries out while no run of the plugin is live, over restarts of host and machine.
  ///
  /// ```swift
  /// try task.transfers.submit(images.map { .download($0.url, to: "\(folder)/\($0.name)") })
  /// ```
  ///
  /// The operator allows it with `may_transfer = true`. When all files of a batch have ended, ``BackgroundTask/transfersEnded(_:_:)`` is
  /// called in one run.
  public var transfers: Transfers { Transfers(run: run) }
}
