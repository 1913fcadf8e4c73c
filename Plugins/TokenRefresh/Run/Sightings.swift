import FoundationEssentials
import Logging

/// Compares each token file with what an earlier run saw of it, and raises events for the differences.
///
/// An event is raised before the sighting is stored, so a killed run may raise it a second time, and loses none. The first sighting of an
/// account raises none: nobody signed in or out then.
struct Sightings<Host: RefreshHost>: Sendable {
  let host: Host

  /// What a run saw of an account, in the host's durable state. It contains no secret.
  private struct Sighting: Codable, Equatable {
    /// SHA-256 of the token file; nil if there was none.
    var digest: String?
    /// Whether its tokens are good, as far as their server has said.
    var isSignedIn: Bool
  }

  /// The token file is there.
  func saw(_ snapshot: TokenFileStore.Snapshot, of account: Account) {
    let known = load(account)
    guard known?.digest != snapshot.digest else { return }
    let event = known.map { _ in RefreshEvent.signedIn }
    settle(account, Sighting(digest: snapshot.digest, isSignedIn: true), [event].compactMap(\.self), expiresAt: snapshot.file.expiresAt)
  }

  /// There is no token file.
  func missed(_ account: Account) {
    let known = load(account)
    guard known?.digest != nil || known == nil else { return }
    settle(account, Sighting(digest: nil, isSignedIn: false), known?.isSignedIn == true ? [.signedOut] : [])
  }

  /// The server has refused the tokens of the file permanently.
  func refused(_ digest: String, of account: Account, error: String) {
    let known = load(account)
    guard known?.isSignedIn != false || known?.digest != digest else { return }
    settle(account, Sighting(digest: digest, isSignedIn: false), known?.isSignedIn == false ? [] : [.signedOut], error: error)
  }

  /// This plugin stored new tokens.
  func refreshed(_ digest: String, of account: Account, expiresAt: Date?) {
    let events: [RefreshEvent] = load(account)?.isSignedIn == false ? [.signedIn, .refreshed] : [.refreshed]
    settle(account, Sighting(digest: digest, isSignedIn: true), events, expiresAt: expiresAt)
  }

  private func settle(
    _ account: Account, _ sighting: Sighting, _ events: [RefreshEvent], expiresAt: Date? = nil, error: String? = nil
  ) {
    do {
      let payload = RaisedPayload(
        account: account.name, tokenFile: account.tokenFile, expiresAt: expiresAt?.formatted(.iso8601), error: error)
      for event in events { try host.raise(event, payload) }
      try host.setState(Self.key(account), Array(try JSONEncoder().encode(sighting)))
    } catch {
      let names = events.map(\.rawValue).joined(separator: ", ")
      host.log(.warning, "\(account.name): \(names.isEmpty ? "what was seen of its token file" : names) is not told: \(error)")
    }
  }

  private func load(_ account: Account) -> Sighting? {
    do {
      return try host.state(Self.key(account)).map { try JSONDecoder().decode(Sighting.self, from: Data($0)) }
    } catch {
      host.log(.warning, "\(account.name): what the last run saw of its token file cannot be read and is ignored: \(error)")
      return nil
    }
  }

  private static func key(_ account: Account) -> String { "seen/" + account.name }
}
