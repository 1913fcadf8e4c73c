import Glibc
import HostControl
import Logging
import TaskHost
import TaskModel

/// What a launch would refuse or warn of in the ways to the host: sockets, certificate, tokens. Changes nothing.
struct AccessReview {
  let configuration: HostConfiguration
  /// Whether the socket may be that of a running host with this configuration.
  var mayRun = true
  /// Whether to look into the state directory, and to count on what only the host's user can reach. Whoever checks a configuration may be
  /// another user.
  var looksIntoState = true

  func findings() -> [Finding] { sockets() + certificate() + tokens() }

  private func sockets() -> [Finding] {
    let control = configuration.control
    var sockets = [(Finding.Topic.control, ControlSocket(path: control.socket, mode: control.mode, group: control.group), mayRun)]
    for socket in configuration.events.sorted(by: { $0.key < $1.key }).map(\.value) {
      guard case .unix(let path) = socket.listen else { continue }
      sockets.append((.control, ControlSocket(path: path, mode: socket.mode, group: socket.group), mayRun))
    }
    return sockets.flatMap { topic, socket, mayRun -> [Finding] in
      var findings: [Finding] = []
      func attempt(_ body: () throws(ControlSocketError) -> Void) {
        do throws(ControlSocketError) { try body() } catch {
          guard error.problem != .inUse || !mayRun else { return }
          findings.append(.obstacle(topic, of: socket.path, "\(error)"))
        }
      }
      attempt { () throws(ControlSocketError) in try looks(at: socket.path) ? socket.check() : socket.checkPath() }
      attempt { () throws(ControlSocketError) in try socket.checkGroup() }
      return findings + directory(of: socket)
    }
  }

  private func looks(at path: String) -> Bool {
    let places = [configuration.stateDirectory, LaunchReview(configuration).stateDirectory]
    guard !looksIntoState else { return true }
    if places.contains(where: { path.hasPrefix($0 + "/") }) { return false }
    // A warning says that its directory is closed to this user.
    return access(Self.directory(of: path), X_OK) == 0 || errno != EACCES
  }

  private static func directory(of path: String) -> String {
    let slash = path.lastIndex(of: "/") ?? path.startIndex
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// The state directory is made by the host; any other directory must be there.
  private func directory(of socket: ControlSocket) -> [Finding] {
    let directory = Self.directory(of: socket.path)
    guard directory != configuration.stateDirectory, directory != LaunchReview(configuration).stateDirectory, access(directory, W_OK) != 0
    else { return [] }
    // A service manager may make it, as RuntimeDirectory= does for /run/taskhost.
    return [
      Finding(
        .control, .warning, of: socket.path, "its directory \(directory): \(String(cString: strerror(errno)))",
        why: "a host that starts now as user \(geteuid()) cannot make the socket",
        remedy: "create the directory for the host's user, or let its unit do so (RuntimeDirectory=)")
    ]
  }

  private func certificate() -> [Finding] {
    guard let files = configuration.certificateFiles else { return [] }
    do throws(CertificateError) {
      let keeper = try CertificateKeeper(files, log: Logger(label: "review") { _ in SwiftLogNoOpLogHandler() })
      let problems = keeper.problems.map { Finding(.certificate, $0) }
      return problems.isEmpty ? [Finding(.certificate, .ok, of: files.certificate, "certificate and key belong together")] : problems
    } catch {
      return error.flaws.map { .obstacle(.certificate, of: files.certificate, $0) }
    }
  }

  private func tokens() -> [Finding] {
    guard configuration.control.listen != nil else { return [] }
    let file = TokenFile(path: configuration.tokenFile)
    guard looks(at: file.path) else { return [] }
    do throws(TokenFileError) {
      let count = try file.read().count
      guard count == 0 else { return [Finding(.tokens, .ok, of: file.path, count == 1 ? "1 token" : "\(count) tokens")] }
      return [
        Finding(
          .tokens, .warning, of: file.path, "there are no tokens", why: "nobody can use control.listen",
          remedy: "make one: taskhost tokens create")
      ]
    } catch {
      return [.obstacle(.tokens, of: file.path, error.observed, remedy: error.remedy)]
    }
  }
}
