import Glibc
import HostThreads
import PluginTrust
import TaskModel

extension PluginLaunching {
  /// The commands of the configuration, in the order of their identifiers.
  ///
  /// All are runs of one library, which belongs to the host like its worker: it needs no signature and no trial, and what it registers is
  /// known.
  func commandProspects() -> [(PluginCandidate?, Prospect)] {
    let identifiers = configuration.commands.keys.sorted().compactMap { try? TaskIdentifier($0) }
    guard !identifiers.isEmpty else { return [] }
    do throws(PluginRefusal) {
      let library = try execLibrary()
      return identifiers.map { identifier in
        var candidate = library
        candidate.command = identifier
        return (candidate, .registers([Self.registration(of: identifier)], nil, nil))
      }
    } catch {
      return identifiers.map { (nil, .refused(RefusedPlugin(refusal: error, identifier: $0))) }
    }
  }

  /// What the exec plugin registers for a command: see `ExecLaunch` there.
  private static func registration(of identifier: TaskIdentifier) -> HandlerRegistration {
    HandlerRegistration(identifier: identifier, kind: .processing, maxConcurrentRuns: 1024)
  }

  /// What is known of the library, if its file has not changed since: it is then neither read nor copied again.
  private func unchangedLibrary(_ path: String) -> KnownPluginFile? {
    var info = stat()
    guard let resolved = RealPath.of(path), let known = cache.files[resolved], lstat(resolved, &info) == 0,
      FileMarks(info) == FileMarks(known)
    else {
      return nil
    }
    return known
  }

  private func execLibrary() throws(PluginRefusal) -> PluginCandidate {
    let path: String
    do throws(HostFailure) { path = try specs.execLibrary() } catch {
      throw PluginRefusal(
        code: .launchFailed, file: "libExec.so", observed: error.message, remedy: "Install taskhost again, with all its files.")
    }
    if let known = unchangedLibrary(path), let copy = copies.copy(of: known) {
      cache.note(known)
      return PluginCandidate(
        path: known.path, digest: known.digest, copy: copy, elf: nil, signature: .unsigned(note: nil), remembered: known)
    }
    let verified = try copies.take(path, policy: trust)
    if let known = verified.remembered { cache.note(known) }
    return PluginCandidate(
      path: verified.file.path, digest: verified.digest, copy: verified.copy, elf: verified.file.elf, signature: .unsigned(note: nil),
      remembered: verified.remembered)
  }
}
