import HostThreads
import PluginTrust
import TaskModel
import WorkerProcesses

/// Results of earlier launches: the known files, and what their content registered under the same circumstances.
final class VerdictCache: @unchecked Sendable {  // reason: everything that changes is touched with `monitor` held
  private struct Key: Hashable {
    let digest: [UInt8]
    let circumstances: [UInt8]
  }

  private let memory: any PluginMemory
  private let specs: WorkerSpecs
  /// The files of the last launch, by path.
  let files: [String: KnownPluginFile]
  /// The identifier that each content registered before, under any circumstances.
  private let identities: [[UInt8]: TaskIdentifier]
  private let verdicts: [Key: [UInt8]]
  private let before: (files: Set<KnownPluginFile>, verdicts: Set<PluginVerdict>)

  private let monitor = Monitor()
  private var circumstances: [TaskIdentifier?: [UInt8]] = [:]
  private var newFiles: [KnownPluginFile] = []
  private var newVerdicts: [PluginVerdict] = []

  /// Treats an unreadable memory as empty.
  init(_ memory: any PluginMemory, specs: WorkerSpecs) {
    self.memory = memory
    self.specs = specs
    let files = (try? memory.knownFiles()) ?? []
    let verdicts = (try? memory.verdicts()) ?? []
    before = (Set(files), Set(verdicts))
    self.files = Dictionary(files.map { ($0.path, $0) }) { first, _ in first }
    self.verdicts = Dictionary(verdicts.map { (Key(digest: $0.digest, circumstances: $0.circumstances), $0.registrations) }) { first, _ in
      first
    }
    identities = Dictionary(
      verdicts.compactMap { verdict in
        LaunchRecord.decode(verdict.registrations)?.first.map { (verdict.digest, $0.identifier) }
      }
    ) { first, _ in first }
  }

  func identity(of digest: [UInt8]) -> TaskIdentifier? { identities[digest] }

  /// The registrations of that content under the current circumstances of `identifier`.
  func registrations(of digest: [UInt8], as identifier: TaskIdentifier?) -> [HandlerRegistration]? {
    verdicts[Key(digest: digest, circumstances: hash(identifier))].flatMap { LaunchRecord.decode($0) }
  }

  /// Records a launch that succeeded, now or earlier, so that the next host can rely on it.
  func note(_ candidate: PluginCandidate, _ registrations: [HandlerRegistration], as identifier: TaskIdentifier) {
    let hash = hash(identifier)
    monitor.locked {
      newVerdicts.append(
        PluginVerdict(digest: candidate.digest, circumstances: hash, registrations: LaunchRecord.encode(registrations)))
    }
  }

  func note(_ file: KnownPluginFile) { monitor.locked { newFiles.append(file) } }

  /// Replaces the stored results with the recorded ones. Writes nothing if they are the same.
  func save() throws(StoreError) {
    let (files, verdicts) = monitor.locked { (newFiles, newVerdicts) }
    let isAsBefore =
      files.count == before.files.count && verdicts.count == before.verdicts.count && files.allSatisfy(before.files.contains)
      && verdicts.allSatisfy(before.verdicts.contains)
    guard !isAsBefore else { return }
    try memory.remember(files: files, verdicts: verdicts)
  }

  private func hash(_ identifier: TaskIdentifier?) -> [UInt8] {
    monitor.locked {
      if let known = circumstances[identifier] { return known }
      let hash = SHA256.digest(of: Array(specs.circumstances(of: identifier).utf8))
      circumstances[identifier] = hash
      return hash
    }
  }
}
