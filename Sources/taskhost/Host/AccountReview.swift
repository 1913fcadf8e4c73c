import CalendarTime
import Glibc
import HostControl
import HostThreads
import PluginTrust
import StrictText
import TaskHost
import TaskModel

/// What ends of the accounts of the token-refresh plugin: access tokens, refresh tokens, and the certificates that it trusts. It reads what
/// Documentation/token-refresh.md says about token files, and no token.
struct AccountReview {
  /// The plugin's identifier.
  static let plugin = "org.taskhost.token-refresh"
  private static let largest = 256 << 10

  private struct Account {
    let name: String
    let tokenFile: String
    let authorities: String?
  }

  /// Why a file says nothing.
  private struct Flaw: Error {
    let observed: String
  }

  private let accounts: [Account]
  /// Whether a host runs, and so refreshes what is due.
  private let isRunning: Bool
  private let now: WallTime

  init(_ configuration: HostConfiguration, isRunning: Bool, now: WallTime = SystemClock().wallTime) {
    (self.isRunning, self.now) = (isRunning, now)
    guard let text = configuration.plugins[Self.plugin]?.settings, let settings = try? JSONValue(text: Array(text.utf8)) else {
      accounts = []
      return
    }
    let common = settings["defaults"]?["ca_file"]?.string
    accounts = (settings["accounts"]?.array ?? []).compactMap { account in
      guard let name = account["name"]?.string, let file = account["token_file"]?.string else { return nil }
      return Account(name: name, tokenFile: file, authorities: account["ca_file"]?.string ?? common)
    }
  }

  func findings() -> [Finding] {
    let own = accounts.map { account in
      finding(of: account) ?? Finding(.accounts, .ok, of: account.name, "its token file can be read, and its tokens are good")
    }
    return own + Set(accounts.compactMap(\.authorities)).sorted().compactMap(finding(ofAuthorities:))
  }

  private func finding(of account: Account) -> Finding? {
    func finding(_ verdict: Finding.Verdict, _ seen: String, _ remedy: String) -> Finding {
      Finding(
        .accounts, verdict, of: account.name, seen, why: "programs that need \(account.tokenFile) get no valid token", remedy: remedy)
    }
    let signIn = "sign in again: the program that does writes \(account.tokenFile)"
    if let mark = read(account.tokenFile + ".signed-out") {
      let since = mark["since"]?.string.map { " since \($0)" } ?? ""
      return finding(.failure, "its server has refused its tokens\(since) (\(mark["error"]?.string ?? "no reason given"))", signIn)
    }
    let file: JSONValue
    do throws(Flaw) { file = try content(account.tokenFile) } catch {
      let isMissing = access(account.tokenFile, F_OK) != 0 && errno == ENOENT
      return finding(
        isMissing ? .failure : .warning,
        isMissing ? "there is no token file \(account.tokenFile)" : "\(account.tokenFile) \(error.observed)",
        isMissing ? signIn : "let the host's user read it, or sign in again")
    }
    let end = Self.time(file["expires_at"] ?? file["expiry"])
    guard file["refresh_token"]?.string != nil else {
      guard let end, end - now < CertificateKeeper.notice else { return nil }
      return finding(
        end < now ? .failure : .warning, "its access token \(Self.clause(end, now)), and there is no refresh token for another", signIn)
    }
    if let last = refreshEnd(file) {
      if last < now { return finding(.failure, "its refresh token \(Self.clause(last, now))", signIn) }
      if let end, last < end {
        return finding(
          .warning, "its refresh token \(Self.clause(last, now)), before the access token does", "raise margin, or sign in again")
      }
    }
    guard let end, end < now else { return nil }
    return finding(
      isRunning ? .failure : .warning, "its access token \(Self.clause(end, now)), and nothing has refreshed it",
      isRunning ? "see why: taskhost runs list --identifier \(Self.plugin)" : "start the host, which refreshes it")
  }

  /// When the refresh token ends, for servers that say for how long it lives.
  private func refreshEnd(_ file: JSONValue) -> WallTime? {
    guard let issued = Self.time(file["issued_at"]), let life = file["refresh_expires_in"] ?? file["refresh_token_expires_in"],
      case .integer(let seconds) = life, seconds > 0
    else { return nil }
    return issued + .seconds(min(seconds, 315_360_000))
  }

  private func finding(ofAuthorities path: String) -> Finding? {
    let why = "the token plugin trusts no server of that authority any more"
    do throws(CertificateError) {
      let end = try AuthorityFile.lastEnd(of: path)
      guard end - now < CertificateKeeper.notice else { return nil }
      return Finding(
        .certificate, end < now ? .failure : .warning, of: path, "the last certificate in ca_file \(path) \(Self.clause(end, now))",
        why: why, remedy: "put the authority's new certificate into it")
    } catch {
      return Finding(
        .certificate, .failure, of: path, "ca_file \(path) \(error.flaws.joined(separator: "; "))", why: why,
        remedy: "put the authority's certificate there, in PEM, where the host's user can read it")
    }
  }

  private static func clause(_ end: WallTime, _ now: WallTime) -> String {
    "\(end < now ? "ended" : "ends") at \(RFC3339.format(end) ?? "a time beyond all years")"
  }

  private func content(_ path: String) throws(Flaw) -> JSONValue {
    let bytes: [UInt8]
    do { bytes = try SmallFile.read(path, trust: .anybody, atMost: Self.largest) } catch { throw Flaw(observed: error.observed) }
    guard let value = try? JSONValue(text: bytes), case .object = value else { throw Flaw(observed: "is not a JSON object") }
    return value
  }

  private func read(_ path: String) -> JSONValue? { try? content(path) }

  /// Unix seconds or RFC 3339 text; nil for what the plugin would complain of.
  private static func time(_ value: JSONValue?) -> WallTime? {
    switch value {
    case .integer(let seconds) where (0..<100_000_000_000).contains(seconds): WallTime(unixSeconds: Int(seconds))
    case .number(let seconds) where seconds >= 0 && seconds < 1e11: WallTime(unixMilliseconds: Int64(seconds * 1000))
    // Without a zone it is UTC; the year 1 means never.
    case .string(let text): (RFC3339.parse(text) ?? RFC3339.parse(text + "Z")).flatMap { $0.unixMilliseconds < 0 ? nil : $0 }
    default: nil
    }
  }
}

extension JSONValue {
  fileprivate subscript(name: String) -> JSONValue? {
    if case .object(let members) = self { members[name] } else { nil }
  }

  fileprivate var string: String? { if case .string(let text) = self { text } else { nil } }

  fileprivate var array: [JSONValue]? { if case .array(let values) = self { values } else { nil } }
}
