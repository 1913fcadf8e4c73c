import PluginTrust
import TaskModel

// Plugins that wait for approval. No code of theirs runs with what they ask for; of those that run, the former goes on.

extension PluginLaunching {
  /// What a candidate waits for; nil if it does not. Commands do not.
  func held(_ candidate: PluginCandidate, _ identifiers: [TaskIdentifier]) -> HeldPlugin? {
    guard let approvals, candidate.command == nil else { return nil }
    var held = approvals.held(
      identifiers, named: candidate.name, file: candidate.place,
      isRunning: running?.former(of: candidate.place, identifiers) != nil)
    held?.pending.asks = (try? withSummary(candidate))?.elf?.note?.asks ?? []
    return held
  }

  /// What the running plugin of a file waits for, because the configuration would give it more; nil if it does not wait. Whatever the file has
  /// become is then not looked at.
  func heldAsItIs(_ path: String) -> HeldPlugin? {
    guard let approvals, let present = running?.former(of: path, []) else { return nil }
    var held = approvals.held(present)
    // One whose approval was revoked is looked at as a new one.
    guard held?.pending.isRunning ?? true else { return nil }
    held?.pending.asks = (try? withSummary(present.candidate))?.elf?.note?.asks ?? []
    return held
  }

  /// Keeps the former plugins of those that wait and go on, unless another file has taken over what they served.
  func retainFormer(in result: inout Result) {
    guard let running else { return }
    for held in result.held where held.pending.isRunning {
      guard var former = running.former(of: held.pending.file, held.identifiers) else { continue }
      let taken = result.registered.contains { plugin in
        plugin.candidate.place == former.candidate.place || plugin.identifiers.contains { former.identifiers.contains($0) }
      }
      guard !taken else { continue }
      registry.take(former.identifiers, for: former.candidate.name)
      if former.isRepeatable, let first = former.identifiers.first { cache.note(former.candidate, former.registrations, as: first) }
      former.isKept = true
      result.registered.append(former)
      result.retained += former.identifiers
    }
  }
}
