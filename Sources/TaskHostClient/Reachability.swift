import StrictText
import TaskModel

/// Whether a server can be reached: by TCP, and with TLS if its address says so. Nothing is asked of it.
package enum Reachability {
  /// Why the server of an address of HTTP cannot be reached, as a clause; nil if it can. Blocks: call it on a thread of its own.
  ///
  /// - Parameters:
  ///   - url: An address that begins with `http://` or `https://`. What follows its host and port is not looked at.
  ///   - timeout: The maximum wait.
  package static func flaw(of url: String, timeout: Duration) -> String? {
    let remote: RemoteHost
    do throws(TaskHostError) { remote = try RemoteHost(url: origin(of: url), token: nil, certificateAuthority: nil) } catch {
      return error.why
    }
    do throws(ConnectionFailure) {
      _ = try RemoteLine(to: remote, timeout: timeout)
      return nil
    } catch { return "\(error)".escapingControlCharacters }
  }

  /// The beginning of an address of HTTP up to its port: the rest may be a secret.
  package static func origin(of url: String) -> String {
    guard let colon = url.firstRange(of: "://") else { return url }
    return String(url[..<colon.upperBound] + url[colon.upperBound...].prefix { !"/?#".contains($0) })
  }
}
