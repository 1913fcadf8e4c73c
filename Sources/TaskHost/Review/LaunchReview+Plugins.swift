import PluginTrust
import TaskModel

extension LaunchReview {
  /// What is found out about the files in the plugin directories before their code runs.
  private struct Files {
    var findings: [Finding] = []
    var refused: [RefusedPlugin] = []
    /// The identifiers of the files that say them, with the file.
    var offered: [TaskIdentifier: String] = [:]
    /// Names of files whose identifiers only a launch tells.
    var silent: [String] = []
  }

  /// Refused files, and what the configuration says about plugins that are not there.
  func plugins(_ signatures: SignaturePolicy) -> [Finding] {
    let scan: PluginDirectoryScan
    do throws(PluginDirectoryError) {
      scan = try PluginDirectoryScan(directories: configuration.pluginDirectories, policy: SwiftRuntime.trustPolicy)
    } catch {
      return [.obstacle(.plugins, of: error.directory, "plugin directory \(error.directory): \(error.observed)", remedy: error.remedy)]
    }
    let rules = IdentifierRules(configuration)
    var files = Files()
    for refusal in scan.refused { note(refusal, rules.identifiers(tiedTo: refusal.fileName), in: &files) }
    for entry in scan.entries {
      var identifier: TaskIdentifier?
      do throws(PluginRefusal) { try take(entry, signatures, rules, &identifier, &files) } catch {
        let tied = rules.identifiers(tiedTo: error.fileName)
        note(error, identifier.map { [$0.rawValue] } ?? tied, in: &files)
      }
    }
    for text in configuration.commands.keys.sorted() {
      guard let identifier = try? TaskIdentifier(text) else { continue }
      let table = CommandConfiguration.file(of: text)
      if let holder = files.offered[identifier] {
        let taken = LaunchFailure(step: .identifierTaken, observed: "\(identifier) is registered by \(holder) already").refusal(of: table)
        note(taken, [text], in: &files)
      } else {
        files.offered[identifier] = table
      }
    }
    return files.findings + absences(files)
  }

  private func note(_ refusal: PluginRefusal, _ identifiers: [String], in files: inout Files) {
    files.refused += (identifiers.isEmpty ? [nil] : identifiers.map { try? TaskIdentifier($0) }).map {
      RefusedPlugin(refusal: refusal, identifier: $0)
    }
    files.findings.append(
      Finding(
        .plugins, .failure, of: refusal.file, refusal.observed,
        why: "the plugin is refused (\(refusal.code.rawValue)), so \(Self.tasks(of: identifiers)) will not run", remedy: refusal.remedy))
  }

  private static func tasks(of identifiers: [String]) -> String {
    identifiers.isEmpty ? "its tasks" : identifiers.joined(separator: " and ")
  }

  /// Checks a file as a launch does before it runs it.
  private func take(
    _ entry: PluginDirectoryScan.Entry, _ signatures: SignaturePolicy, _ rules: IdentifierRules, _ identifier: inout TaskIdentifier?,
    _ files: inout Files
  ) throws(PluginRefusal) {
    let status: SignatureStatus
    let name = entry.path.split(separator: "/").last.map(String.init) ?? entry.path
    switch entry {
    case .known: return
    case .manifest(let file):
      let inspection = try PluginInspector.inspect(file)
      identifier = inspection.adoption.identifier
      status = try signatures.check(file, adopting: inspection.library, as: inspection.adoption.identifier)
    case .inspected(let file):
      identifier = rules.identifier(of: name, note: file.elf.note)
      status = try PluginInspector.status(of: file, signatures)
      files.findings += libraries(of: file, identifier)
    }
    if case .unsigned(let note?) = status { files.findings.append(Finding(.plugins, .warning, of: entry.path, "\(name): \(note)")) }
    guard let identifier else { return files.silent.append(name) }
    do throws(CallFailure) { try rules.check(identifier, for: name) } catch {
      throw LaunchFailure(step: .notPermitted, observed: error.message).refusal(of: entry.path)
    }
    if let holder = files.offered[identifier] {
      throw LaunchFailure(step: .identifierTaken, observed: "\(identifier) is registered by \(holder) already").refusal(of: entry.path)
    }
    if let refusal = status.refusal(of: identifier, file: entry.path) { throw refusal }
    files.offered[identifier] = name
  }

  /// Libraries that the plugin needs and that are in no folder where the loader looks.
  private func libraries(of file: PluginFile, _ identifier: TaskIdentifier?) -> [Finding] {
    let policy = SwiftRuntime.trustPolicy
    return file.elf.libraries.filter { !policy.finds($0, besides: file.elf.searchPath) }.map { library in
      let isSwift = library.hasPrefix("libswift") || library.hasPrefix("libFoundation") || library.hasPrefix("lib_Foundation")
      let built = file.elf.note?.swift.map { " (it was built with Swift \($0))" } ?? ""
      return Finding(
        .plugins, isSwift ? .failure : .warning, of: file.path,
        "it needs \(library), which is neither in its search path nor in a folder of the system"
          + (isSwift ? ": it was built for a Swift runtime that is not installed here\(built)" : ""),
        why:
          "it cannot be loaded, unless the loader's cache knows another place, so \(identifier.map { "\($0)" } ?? "its tasks") will not run",
        remedy: isSwift
          ? "build it with -static-stdlib, as taskhost plugins new does, or install that runtime and name its folder in the RUNPATH"
          : "install the package that has it, for this machine's architecture")
    }
  }

  /// What the configuration says about plugins that are not there.
  private func absences(_ files: Files) -> [Finding] {
    let offered = Set(files.offered.keys)
    let doubt =
      files.silent.isEmpty
      ? nil
      : "\(files.silent.joined(separator: ", ")) \(files.silent.count == 1 ? "tells its" : "tell their") identifiers only when launched"
    var findings: [Finding] = []
    do throws(HostFailure) { try configuration.checkPermitted(offered: offered, refused: files.refused) } catch {
      findings += Finding.obstacles(.plugins, error).map { finding in
        guard let doubt, finding.seen.contains("no plugin registers it") else { return finding }
        var finding = finding
        (finding.verdict, finding.preventsLaunch, finding.why) = (.warning, false, doubt)
        return finding
      }
    }
    let known = offered.union(files.refused.compactMap(\.identifier))
    findings += configuration.problems(withHandlersFor: Set(known.map(\.rawValue))).map { problem in
      var finding = Finding(problem.kind == .configuration ? .configuration : .plugins, problem)
      let identifier = problem.subject.map { $0.prefix { $0 != "/" } }.map(String.init) ?? ""
      let isScheduled = configuration.plugins[identifier]?.schedule != nil || problem.subject?.contains("/") == true
      if isScheduled { (finding.topic, finding.verdict, finding.why) = (.schedules, .failure, "its schedule never runs") }
      if let doubt { (finding.verdict, finding.why) = (.warning, doubt) }
      return finding
    }
    return findings
  }
}
