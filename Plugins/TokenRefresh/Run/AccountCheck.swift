import FoundationEssentials
import HTTPTransfer
import Logging

/// Checks whether an account is due and may be tried, without asking its server.
struct AccountCheck<Host: RefreshHost>: Sendable {
  let payload: RefreshPayload
  let secrets: ClientSecretReader
  let host: Host
  let redactor: Redactor
  var sightings: Sightings<Host> { Sightings(host: host) }

  enum Verdict: Sendable {
    case settled(AccountReport)
    case due(DueAccount)
  }

  func check(_ account: Account) -> Verdict {
    var report = AccountReport(name: account.name, result: .notDue)
    do {
      let store = try TokenFileStore(path: account.tokenFile)
      let snapshot = try store.read()
      redactor.learn(snapshot.file.secrets)
      redactor.learn((account.headers + account.parameters).map(\.secret))
      redactor.learn(account.server.address.secrets)
      sightings.saw(snapshot, of: account)
      let now = host.now
      let margin = payload.minimumValidity.map { RefreshMargin.duration($0) } ?? account.margin
      let dueDate = RefreshPolicy.dueDate(snapshot.file, margin: margin, now: now)
      report.expiresAt = snapshot.file.expiresAt
      report.refreshAt = dueDate
      if payload.minimumValidity != nil { report.place = TokenPlace(file: account.tokenFile, member: snapshot.file.accessTokenMember) }
      let isDue = payload.force || dueDate <= now
      let record = loadRecord(account)
      guard isDue || record.refusal != nil else {
        store.removeSignedOutMark()
        return .settled(report)
      }

      let clientSecret = try readSecret(account)
      if let refusal = record.refusal {
        let tried = payload.force && payload.account != nil
        let same = refusal.fingerprint == DueAccount.fingerprint(account, snapshot, clientSecret)
        if same && !tried {
          guard mark(refusal, of: snapshot.digest, account, store) else { return .settled(report.with(.retry, replaced)) }
          sightings.refused(snapshot.digest, of: account, error: redactor.redact(refusal.code))
          return .settled(report.signedOut(refusal))
        }
        // Someone signed in again, so the refusal no longer applies.
        if !isDue {
          storeRecord(AccountRecord(), account)
          store.removeSignedOutMark()
        }
      }
      guard isDue else { return .settled(report) }
      if payload.look { return .settled(report.with(.due, nil)) }
      if let wait = waitAskedFor(record, now) {
        report.retryAfter = wait
        return .settled(report.with(.retry, "the server wants no request for another \(Int64(wait.inSeconds.rounded(.up))) s"))
      }
      return .due(
        DueAccount(
          account: account, store: store, snapshot: snapshot, clientSecret: clientSecret, record: record, report: report))
    } catch {
      if case .missing? = error as? TokenFileProblem { sightings.missed(account) }
      return .settled(report.failed(error))
    }
  }

  /// Tells readers of the token file that its tokens are no longer valid.
  ///
  /// A sign-in can replace the tokens at any moment, and nobody would remove a mark that is written after the run that it causes. So the
  /// file is read again after the mark is written. A later sign-in causes a run that removes the mark.
  ///
  /// - Parameter digest: The file with the refused tokens.
  /// - Returns: False if the file has changed since then; the mark is removed again.
  func mark(_ refusal: AccountRecord.Refusal, of digest: String, _ account: Account, _ store: TokenFileStore) -> Bool {
    let refusal = refusal.redacted(by: redactor)
    do {
      try store.markSignedOut(SignedOutMark(account: account.name, error: refusal.code, detail: refusal.reason, since: refusal.since))
    } catch {
      host.log(.warning, "\(account.name): its signed-out mark cannot be written: \(error)")
    }
    guard let now = try? store.read(), now.digest != digest else { return true }
    store.removeSignedOutMark()
    return false
  }

  /// What is reported when the tokens were replaced while their server refused them.
  var replaced: String { "someone signed in while its server refused the former tokens: the new ones are checked next" }

  /// Stores what the next run must know; removes an empty record.
  func storeRecord(_ record: AccountRecord, _ account: Account) {
    do {
      let value = record == AccountRecord() ? nil : Array(try JSONEncoder().encode(record.redacted(by: redactor)))
      try host.setState(AccountRecord.key(account), value)
    } catch {
      host.log(.warning, "\(account.name): the result cannot be stored for the next run: \(error)")
    }
  }

  private func loadRecord(_ account: Account) -> AccountRecord {
    do {
      guard let bytes = try host.state(AccountRecord.key(account)) else { return AccountRecord() }
      return try JSONDecoder().decode(AccountRecord.self, from: Data(bytes))
    } catch {
      host.log(.warning, "\(account.name): the record of the last run cannot be read and is ignored: \(error)")
      return AccountRecord()
    }
  }

  private func readSecret(_ account: Account) throws(Problem) -> Secret? {
    guard let source = account.clientSecret else { return nil }
    let kind = if case .privateKey = account.clientAuthentication { "private key" } else { "client secret" }
    let (secret, warning) = try secrets.read(source, kind: kind)
    redactor.learn(secret)
    if let warning { host.log(.warning, "\(account.name): \(warning)") }
    return secret
  }

  /// The time that the server still asks to wait. A time longer than the accepted maximum means that the clock was set back.
  private func waitAskedFor(_ record: AccountRecord, _ now: Date) -> Duration? {
    guard let notBefore = record.notBefore else { return nil }
    let wait = Duration.seconds(notBefore.timeIntervalSince(now))
    return wait > .zero && wait <= RetryAfter.longest ? wait : nil
  }
}
