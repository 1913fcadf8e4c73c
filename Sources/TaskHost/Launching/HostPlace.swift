import TaskModel
import WorkerProcesses
import WorkerSandbox

/// A path that the host, or every worker, relies on.
struct HostPlace: Sendable {
  /// The access that entitlements must not give.
  enum Protection: Sendable {
    /// No reading or writing, here or below.
    case secret
    /// No reading of the whole folder, and no writing in it.
    case plugins
    /// No replacing or writing.
    case program
    /// No replacing or writing; reading its folder is harmless.
    case kept
    /// No replacing: workers follow links there.
    case shared

    var refusals: ReservedPath.Refusals {
      switch self {
      case .secret: .everything
      case .plugins: [.readAbove, .readSame, .write]
      case .program: .write
      case .kept: [.writeAbove, .writeSame]
      case .shared: .writeAbove
      }
    }
  }

  /// Its name in messages, with an article.
  let what: String
  /// Without links.
  let path: String
  /// The path, and the locations of the links that lead to it.
  let steps: [String]
  let protection: Protection

  private init(_ what: String, _ configured: String, _ protection: Protection) {
    let found = EntitledPath(configured, source: what)
    self.what = what
    path = found.path
    steps = found.links + [found.path]
    self.protection = protection
  }

  /// The place by all its names: replacing a link that leads there would replace the place.
  var reserved: [ReservedPath] { steps.map { ReservedPath($0, refusals: protection.refusals) } }

  /// All places, the most important first.
  ///
  /// - Parameter programs: The programs of host and worker.
  static func all(_ configuration: HostConfiguration, stateDirectory: String, programs: [String]) -> [HostPlace] {
    var places = [
      HostPlace("the state directory", stateDirectory, .secret),
      HostPlace("the state directory", configuration.stateDirectory, .secret),
      HostPlace("the control socket", configuration.control.socket, .secret),
    ]
    if let file = configuration.file { places.append(HostPlace("the configuration", file, .secret)) }
    if let file = configuration.control.tokenFile { places.append(HostPlace("the file of tokens", file, .secret)) }
    if let file = configuration.control.certificate { places.append(HostPlace("the certificate", file, .program)) }
    if let file = configuration.control.key { places.append(HostPlace("the certificate's key", file, .secret)) }
    if let keys = try? configuration.keyPlace() { places.append(HostPlace("the file of the store's keys", keys.path, .secret)) }
    if let file = configuration.storeMark { places.append(HostPlace("the store's mark", file, .kept)) }
    for case .unix(let path) in configuration.events.sorted(by: { $0.key < $1.key }).map(\.value.listen) {
      places.append(HostPlace("the event socket", path, .kept))
    }
    places += configuration.pluginDirectories.map { HostPlace("the plugin directory", $0, .plugins) }
    places += configuration.trustedKeys.map { HostPlace("the trusted key", $0.file, .program) }
    places += programs.map { HostPlace("the program", $0, .program) }
    places += SwiftRuntime.directories.map { HostPlace("the folder of libraries", $0, .program) }
    places += WorkerSandbox.everybodysPaths.map { HostPlace("what every worker reads,", $0, .shared) }
    return places
  }
}
