import FoundationEssentials

/// An account to refresh, with everything that was read to decide so.
struct DueAccount: Sendable {
  let account: Account
  let store: TokenFileStore
  /// The token file as it was before the lock was taken.
  let snapshot: TokenFileStore.Snapshot
  let clientSecret: Secret?
  /// The stored record of the last run.
  let record: AccountRecord
  let report: AccountReport

  /// Whether this one comes before another: accounts in trouble come last; among the others, the earliest expiry comes first.
  func precedes(_ other: DueAccount) -> Bool {
    if record.isTroubled != other.record.isTroubled { return other.record.isTroubled }
    return (report.expiresAt ?? .distantPast) < (other.report.expiresAt ?? .distantPast)
  }

  /// A digest of everything that a server's refusal refers to: the refusal applies until any of it changes.
  static func fingerprint(_ account: Account, _ snapshot: TokenFileStore.Snapshot, _ clientSecret: Secret?) -> String {
    let server =
      switch account.server {
      case .tokenEndpoint(let url): "token_endpoint " + url.text
      case .issuer(let url): "issuer " + url.text
      }
    let fields =
      [
        snapshot.digest, account.clientID, server, "\(account.clientAuthentication)", account.scope ?? "", clientSecret?.reveal() ?? "",
      ] + (account.parameters + account.headers).flatMap { [$0.name, $0.value.reveal()] }
    // With lengths, so that different lists of fields never give the same bytes.
    return Digest.sha256(fields.flatMap { Array("\($0.utf8.count):\($0)".utf8) })
  }
}
