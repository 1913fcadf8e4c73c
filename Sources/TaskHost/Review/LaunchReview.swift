import Glibc
import HostThreads
import PluginTrust
import TaskModel
import TaskStore
import ValueSealing
import WorkerSandbox

/// What a launch with a configuration would refuse or warn of, as far as that is visible without a launch.
///
/// It calls the checks of the launch, changes nothing, runs no plugin, and takes no lock: a host may run meanwhile, also in this process.
/// It blocks on the disk, so do not call it on a thread of Swift's cooperative pool.
public struct LaunchReview: Sendable {
  let configuration: HostConfiguration
  /// The state directory without links, if it exists.
  public let stateDirectory: String

  /// - Parameter configuration: As it was read; the options of `taskhost run` may have changed it.
  public init(_ configuration: HostConfiguration) {
    self.configuration = configuration
    stateDirectory = RealPath.of(configuration.stateDirectory) ?? configuration.stateDirectory
  }

  /// Everything that is wrong, and nothing that is well.
  public func findings() -> [Finding] {
    var findings: [Finding] = []
    func attempt(_ topic: Finding.Topic, _ body: () throws(HostFailure) -> Void) {
      do throws(HostFailure) { try body() } catch { findings += Finding.obstacles(topic, error) }
    }
    attempt(.sandbox) { () throws(HostFailure) in try configuration.checkDemands() }
    // What follows compares files.
    guard Libcrypto.hasSHA256 else { return findings }
    if let mark = configuration.storeMark {
      attempt(.store) { () throws(HostFailure) in try StateDirectory.check(mark: mark, outsideOf: stateDirectory) }
    }
    findings += encryption() + plainInFleet()
    var worker = "/usr/bin/taskhost-worker"
    attempt(.programs) { () throws(HostFailure) in worker = try WorkerSpecs.findExecutable() }
    attempt(.entitlements) { () throws(HostFailure) in
      let specs = try WorkerSpecs(configuration, stateDirectory: stateDirectory, executable: worker)
      guard !configuration.commands.isEmpty else { return }
      do throws(HostFailure) { _ = try specs.execLibrary() } catch { findings += missingExecLibrary(error) }
    }
    var signatures = SignaturePolicy()
    attempt(.plugins) { () throws(HostFailure) in signatures = try configuration.signaturePolicy() }
    findings += plugins(signatures)
    findings += users() + commands() + paths() + receivers() + waking() + openings()
    return findings
  }

  /// The keys of the store, as far as they can be looked at from here: systemd hands credentials to the host only.
  private func encryption() -> [Finding] {
    let credential = configuration.encryption.credential
    guard credential == nil || getenv("CREDENTIALS_DIRECTORY") != nil else {
      return [Finding(.encryption, .ok, of: credential, "systemd hands the keys to the host, so they cannot be looked at from here")]
    }
    do throws(HostFailure) {
      let sealing = try configuration.sealing(user: StateDirectory.hostUser(of: stateDirectory))
      let database = stateDirectory + "/taskhost.sqlite"
      do throws(StoreError) {
        let isSealed = try StoreGlance.needsKeys(database, sealing)
        guard let sealing else { return [] }
        let names = sealing.keys.ids.map(\.description).joined(separator: ", ")
        let opens = isSealed.map { $0 ? ", and open the store" : "; nothing in the store is sealed yet" } ?? ""
        return [Finding(.encryption, .ok, "the keys can be read (\(names))\(opens)")]
      } catch {
        guard case .sealed = error else { return [] }
        return [.obstacle(.encryption, of: database, error.observed, remedy: error.remedy ?? "")]
      }
    } catch { return Finding.obstacles(.encryption, error) }
  }

  /// What leaves the host in spite of its keys.
  private func plainInFleet() -> [Finding] {
    guard configuration.encryption.hasKeys, configuration.encryption.seal, let identifier = configuration.fleetIdentifiers.min() else {
      return []
    }
    return [
      Finding(
        .encryption, .warning, of: identifier.rawValue, "requests of identifiers with scope = \"fleet\" are plain in the fleet's database",
        why: "this host's keys seal its own store alone",
        remedy: "encrypt the disks of the database's server and the connections to it, or give identifiers with secrets scope = \"host\"")
    ]
  }

  /// A launch goes on without commands, unless one of them must be there.
  private func missingExecLibrary(_ failure: HostFailure) -> [Finding] {
    [
      Finding(
        .programs, .failure, of: "libExec.so", failure.message, why: "no command of the configuration can run",
        remedy: "install taskhost again, with all its files")
    ]
  }

  /// Entitlements to paths that do not exist.
  private func paths() -> [Finding] {
    configuration.plugins.sorted { $0.key < $1.key }.filter { $0.value.isolation == .process }.flatMap { identifier, plugin -> [Finding] in
      let entitled = plugin.entitlements.read.map { ("read", $0) } + plugin.entitlements.write.map { ("write", $0) }
      return entitled.compactMap { key, path in
        guard access(path, F_OK) != 0 else { return nil }
        return Finding(
          .entitlements, .warning, of: identifier, "entitlements.\(key): \(path): \(String(cString: strerror(errno)))",
          why: "\(identifier) does not get that path", remedy: "create it before the host starts, or remove the entitlement")
      }
    }
  }
}
