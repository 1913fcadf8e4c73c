import Glibc
import TaskHost
import TaskModel

/// What a configuration names and the user who checks it may not read. The host's user may, so it says nothing about a launch.
struct ClosedFiles {
  private let paths: [String]
  private let stateDirectory: String
  private let isStateClosed: Bool

  init(_ configuration: HostConfiguration) {
    stateDirectory = configuration.stateDirectory
    isStateClosed = access(stateDirectory, R_OK | X_OK) != 0 && errno == EACCES
    var info = stat()
    // The owner of the state directory is the host's user: what is closed to that one is closed to the host.
    guard stat(stateDirectory, &info) != 0 || info.st_uid != geteuid() else {
      paths = []
      return
    }
    let named = [configuration.encryption.keyFile, configuration.control.certificate, configuration.control.key, configuration.storeMark]
    let all = named.compactMap(\.self) + [configuration.tokenFile] + configuration.trustedKeys.map(\.file)
    paths = all.filter { access($0, R_OK) != 0 && errno == EACCES }
  }

  /// The findings, with what could not be looked at in place of what was made of that.
  func review(_ findings: [Finding]) -> [Finding] {
    let remedy = "check it as the host's user, or with taskhost doctor as root"
    var told: Set<String> = []
    let reviewed = findings.compactMap { finding -> Finding? in
      guard finding.preventsLaunch, let path = paths.first(where: { finding.subject == $0 || finding.seen.contains($0) }) else {
        return finding
      }
      guard told.insert(path).inserted else { return nil }
      return Finding(finding.topic, .warning, of: path, "not checked: \(path) is closed to user \(geteuid())", remedy: remedy)
    }
    guard isStateClosed else { return reviewed }
    return reviewed + [
      Finding(
        .stateDirectory, .ok, of: stateDirectory,
        "not checked: \(stateDirectory) is closed to user \(geteuid()): the store, the control socket and tokens there")
    ]
  }
}
