import Logging

/// One run over the accounts. It reaches the host only through ``RefreshHost``.
struct TokenRefresher: Sendable {
  let settings: TokenRefreshSettings
  var secrets = ClientSecretReader()

  /// Checks every account, refreshes the due ones, and reports on all.
  ///
  /// Once its task is cancelled, it starts no further account. A request in flight may use the remaining grace, and its answer is stored.
  func run(_ payload: RefreshPayload, host: some RefreshHost) async -> RefreshReport {
    let redactor = Redactor()
    let report = await run(payload, RedactingHost(host: host, redactor: redactor), redactor)
    return RefreshReport(
      accounts: report.accounts.map { $0.redacted(by: redactor) },
      purpose: payload.look ? .look : payload.minimumValidity == nil ? .refresh : .answer)
  }

  private func run(_ payload: RefreshPayload, _ host: some RefreshHost, _ redactor: Redactor) async -> RefreshReport {
    let chosen = settings.accounts.filter { payload.account == nil || payload.account == $0.name }
    if let name = payload.account, chosen.isEmpty {
      let known = settings.accounts.map(\.name).joined(separator: ", ")
      let report = AccountReport(
        name: redactor.clean(name), result: .failed, detail: "no account has this name (known: \(known.isEmpty ? "none" : known))")
      return RefreshReport(accounts: [note(report, host)])
    }

    let check = AccountCheck(payload: payload, secrets: secrets, host: host, redactor: redactor)
    var reports: [String: AccountReport] = [:]
    var due: [DueAccount] = []
    for account in chosen {
      switch check.check(account) {
      case .settled(let report): reports[account.name] = note(report, host)
      case .due(let account): due.append(account)
      }
    }
    host.progress(reports.count, of: chosen.count)
    if !due.isEmpty {
      var refresh = AccountRefresh(server: TokenServer(), check: check, redactor: redactor)
      for (position, account) in due.sorted(by: { $0.precedes($1) }).enumerated() {
        let waiting = due.count - position - 1
        let report = Task.isCancelled ? account.report.with(.skipped, nil) : await refresh.refresh(account, waiting: waiting)
        reports[report.name] = note(report, host)
        host.progress(reports.values.count { $0.result != .skipped }, of: chosen.count)
      }
    }
    return RefreshReport(accounts: chosen.compactMap { reports[$0.name] })
  }

  /// Logs an account's result, at a level that matches its urgency.
  private func note(_ report: AccountReport, _ host: some RefreshHost) -> AccountReport {
    let detail = report.detail.map { ": \($0)" } ?? ""
    switch report.result {
    case .refreshed: host.log(.info, "\(report.name): refreshed\(detail)")
    case .notDue: host.log(.debug, "\(report.name): not due\(detail)")
    case .due: host.log(.debug, "\(report.name): due")
    case .inProgress: host.log(.info, "\(report.name): another process is refreshing it")
    case .skipped: host.log(.notice, "\(report.name): left for the next run, because this run had to end")
    case .retry: host.log(.warning, "\(report.name): will be tried again\(detail)")
    case .signedOut: host.log(.warning, "\(report.name): signed out\(detail)")
    case .failed: host.log(.error, "\(report.name): failed\(detail)")
    }
    return report
  }
}
