import FoundationEssentials

/// Refreshes accounts that are due, one after the other.
struct AccountRefresh<Host: RefreshHost> {
  /// The part of the grace that a request in flight may not use, so that its answer can be stored: 1 s.
  private let reserve = Duration.seconds(1)

  /// The minimum time for an exchange while other accounts wait: 10 s.
  private let leastShare = Duration.seconds(10)

  let server: TokenServer
  let check: AccountCheck<Host>
  let redactor: Redactor
  private var host: Host { check.host }
  private var metadata: [MetadataKey: ServerMetadata] = [:]

  init(server: TokenServer, check: AccountCheck<Host>, redactor: Redactor) {
    self.server = server
    self.check = check
    self.redactor = redactor
  }

  /// Takes the account's lock, reads the file again, asks the server and stores the answer, in this order.
  ///
  /// Never throws: every failure becomes the account's report, and the run continues with the next account.
  ///
  /// - Parameter waiting: The number of accounts after this one.
  mutating func refresh(_ due: DueAccount, waiting: Int) async -> AccountReport {
    do {
      guard let lock = try due.store.lock() else { return due.report.with(.inProgress, nil) }
      defer { lock.release() }
      return try await refreshLocked(due, timeout: due.account.timeout ?? share(waiting: waiting))
    } catch {
      return due.report.failed(error)
    }
  }

  /// The time for an account without a `timeout`: its share of the remaining budget; for the last account, all that is left, with the
  /// grace.
  func share(waiting: Int) -> Duration {
    waiting == 0 ? max(leastShare, host.remaining + host.grace) : max(leastShare, host.remaining / (waiting + 1))
  }

  private mutating func refreshLocked(_ due: DueAccount, timeout: Duration) async throws -> AccountReport {
    let found = try due.store.read()
    let recovered = try due.store.recover(found)
    let current = recovered ?? found
    redactor.learn(current.file.secrets)
    var report = due.report
    report.refreshAt = RefreshPolicy.dueDate(current.file, margin: due.account.margin, now: host.now)
    report.expiresAt = current.file.expiresAt
    if recovered != nil { check.sightings.refreshed(current.digest, of: due.account, expiresAt: current.file.expiresAt) }
    if current.digest != due.snapshot.digest, let refreshAt = report.refreshAt, refreshAt > host.now {
      check.storeRecord(AccountRecord(), due.account)
      due.store.removeSignedOutMark()
      return recovered == nil
        ? report.with(.notDue, "refreshed by another process") : report.with(.refreshed, "recovered from an interrupted run")
    }
    guard let refreshToken = current.file.refreshToken else {
      return report.with(.failed, "\(due.account.tokenFile): it contains no refresh_token (sign in again, with offline access)")
    }

    let trust: TrustedAuthorities
    let endpoint: EndpointURL
    let credential: ClientCredential
    do throws(ExchangeFailure) {
      trust = try TrustedAuthorities(file: due.account.certificateAuthorities)
      let target = try await findEndpoint(due.account, trust, timeout)
      endpoint = target.endpoint
      credential = try ClientCredential(
        due.account, secret: due.clientSecret, secretInBody: target.secretInBody, endpoint: endpoint, now: host.now)
    } catch {
      return Task.isCancelled ? report.with(.skipped, nil) : settle(error, due, current, report)
    }
    redactor.learn(credential.secrets)
    let request = TokenRequest(due.account, refreshToken: refreshToken, credential: credential)
    let replacement = try due.store.prepare(replacing: current)
    if Task.isCancelled {
      replacement.discard()
      return report.with(.skipped, nil)
    }

    let issued = host.now
    // Once asked, the server may have revoked the old refresh token. So a run that has to end still waits for the answer as long as its
    // grace allows.
    let rest: @Sendable () -> Duration = { [host, reserve] in max(.zero, host.grace - reserve) }
    let grant: TokenGrant
    do throws(ExchangeFailure) {
      grant = try await server.refresh(
        request, at: endpoint, trust: trust, timeout: timeout, redactor: redactor, now: issued, rest: rest
      ) { body in replacement.keep(answer: body, asked: issued) }
    } catch {
      replacement.discard()
      return settle(error, due, current, report)
    }
    redactor.learn(grant.secrets)
    // The answer goes to the disk first: the old refresh token may already be revoked.
    let (updated, digest) = try store(grant, issued: issued, in: current.file, with: replacement)
    if due.record != AccountRecord() { check.storeRecord(AccountRecord(), due.account) }
    due.store.removeSignedOutMark()
    check.sightings.refreshed(digest, of: due.account, expiresAt: updated.expiresAt)
    report.expiresAt = updated.expiresAt
    report.refreshAt = RefreshPolicy.dueDate(updated, margin: due.account.margin, now: host.now)
    return report.with(.refreshed, nil)
  }

  private func store(
    _ grant: TokenGrant, issued: Date, in file: TokenFile, with replacement: TokenFileReplacement
  ) throws -> (file: TokenFile, digest: String) {
    var updated = file
    updated.apply(grant, issued: issued)
    do {
      let bytes = try updated.encoded()
      try replacement.commit(bytes)
      return (updated, Digest.sha256(bytes))
    } catch let failure as TokenFileReplacement.Failure {
      throw StorageFailure(failure, rotated: grant.refreshToken != nil)
    }
  }

  private mutating func findEndpoint(_ account: Account, _ trust: TrustedAuthorities, _ timeout: Duration)
    async throws(ExchangeFailure) -> (endpoint: EndpointURL, secretInBody: Bool)
  {
    switch account.server {
    case .tokenEndpoint(let url):
      return (url, false)
    case .issuer(let issuer):
      let key = MetadataKey(
        issuer: issuer, allowInsecureHTTP: account.allowInsecureHTTP, certificateAuthorities: account.certificateAuthorities)
      let known: ServerMetadata
      if let found = metadata[key] {
        known = found
      } else {
        known = try await server.metadata(
          of: issuer, allowInsecureHTTP: account.allowInsecureHTTP, trust: trust, timeout: timeout, now: host.now)
        metadata[key] = known
      }
      return (known.tokenEndpoint, known.wantsSecretInBody)
    }
  }

  /// Stores what the next run must know about a failure, and reports it.
  private func settle(_ failure: ExchangeFailure, _ due: DueAccount, _ current: TokenFileStore.Snapshot, _ report: AccountReport)
    -> AccountReport
  {
    var record = AccountRecord()
    var report = report
    switch failure {
    case .temporary(let reason, let retryAfter):
      record.isTroubled = true
      record.notBefore = retryAfter.map { host.now + $0.inSeconds }
      report.retryAfter = retryAfter
      report = report.with(.retry, reason)
    case .rejected(let code, let reason):
      let fingerprint = DueAccount.fingerprint(due.account, current, due.clientSecret)
      let refusal = AccountRecord.Refusal(fingerprint: fingerprint, code: code, reason: reason, since: host.now)
      guard check.mark(refusal, of: current.digest, due.account, due.store) else {
        report = report.with(.retry, check.replaced)
        break
      }
      record.refusal = refusal
      check.sightings.refused(current.digest, of: due.account, error: check.redactor.redact(code))
      report = report.signedOut(refusal)
    case .misconfigured(let reason):
      report = report.with(.failed, reason)
    }
    if record != due.record { check.storeRecord(record, due.account) }
    return report
  }

  private struct MetadataKey: Hashable {
    let issuer: EndpointURL
    let allowInsecureHTTP: Bool
    let certificateAuthorities: String?
  }
}
