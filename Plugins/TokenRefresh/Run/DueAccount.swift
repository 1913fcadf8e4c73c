import FoundationEssentials

/// An account to refresh, with everything that the check read.
struct DueAccount: Sendable {
  let account: Account
  let store: TokenFileStore
  /// The token file before the lock was taken.
  let snapshot: TokenFileStore.Snapshot
  let clientSecret: Secret?
  /// The stored record of the last run.
  let record: AccountRecord
  let report: AccountReport

  /// Whether this account comes before another: accounts with a temporary failure come last; among equals, the earliest expiry comes first.
  func precedes(_ other: DueAccount) -> Bool {
    if record.isTroubled != other.record.isTroubled { return other.record.isTroubled }
    return (report.expiresAt ?? .distantPast) < (other.report.expiresAt ?? .distantPast)
  }

  /// A digest of everything that a server's refusal refers to. The refusal applies until the digest changes.
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
    // The lengths ensure that different lists of fields never give the same bytes.
    return Digest.sha256(fields.flatMap { Array("\($0.utf8.count):\($0)".utf8) })
  }
}
