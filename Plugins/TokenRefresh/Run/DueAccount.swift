import FoundationEssentials

/// An account that is to be refreshed, with all that was read to decide so.
struct DueAccount: Sendable {
  let account: Account
  let store: TokenFileStore
  /// The token file as it was before the lock was taken.
  let snapshot: TokenFileStore.Snapshot
  let clientSecret: Secret?
  /// What the last run left, as it is stored.
  let record: AccountRecord
  let report: AccountReport

  /// Whether this one comes before another: trouble last time comes last, then what ends first comes first.
  func precedes(_ other: DueAccount) -> Bool {
    if record.isTroubled != other.record.isTroubled { return other.record.isTroubled }
    return (report.expiresAt ?? .distantPast) < (other.report.expiresAt ?? .distantPast)
  }

  /// What a server's refusal refers to, as a digest: it stands until any of this changes.
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
    // With lengths, so that no two lists of fields run together to the same bytes.
    return Digest.sha256(fields.flatMap { Array("\($0.utf8.count):\($0)".utf8) })
  }
}
