import WorkerProcesses

/// What no configuration may give plugins, whatever the operator trusts them with.
struct EntitlementConflicts {
  let claims: [ResolvedEntitlements.Claim]
  let places: [HostPlace]

  /// A sentence for each conflict.
  var sentences: [String] { claims.flatMap { claim in nested(claim) + claim.conflicts(with: places).prefix(1) } }

  /// Whoever may write a folder may put a link in the place of whatever is below.
  private func nested(_ claim: ResolvedEntitlements.Claim) -> [String] {
    var sentences: [String] = []
    for other in claims where other.isWritable {
      guard let step = claim.steps.first(where: { PathOrder.isBelow($0, other.entitled.path) }) else { continue }
      let whose = other.plugin == claim.plugin ? "the plugin itself" : "plugin \(other.plugin)"
      let subject = step == claim.configured ? "it" : step == claim.entitled.path ? "it is \(step), which" : "the link \(step) on the way"
      sentences.append(
        "\(claim.name): \(subject) lies below \(other.configured), which \(whose) may write (entitlements.write) and so could replace by a link to anything: entitle folders that lie beside each other"
      )
    }
    return sentences
  }
}

extension ResolvedEntitlements.Claim {
  /// What it has to do with places that are not for plugins; one sentence says enough to an operator.
  fileprivate func conflicts(with places: [HostPlace]) -> [String] {
    places.compactMap { place in
      let own = entitled.path
      let named = place.what + " " + place.path
      let contains = place.steps.contains { $0 == own || PathOrder.isBelow($0, own) }
      let isBelow = PathOrder.isBelow(own, place.path)
      switch place.protection {
      case .secret where contains: return "\(name): \(named) is in it, which is the host's own: entitle what lies beside that"
      case .secret where isBelow:
        return "\(name): it is in \(named), which is the host's own: a plugin has its data directory without an entitlement"
      case .plugins where contains: return "\(name): \(named) is in it, which no plugin may reach whole: entitle what lies beside that"
      case .plugins where isBelow && isWritable, .program where isBelow && isWritable:
        return "\(name): it is in \(named), whose content the host trusts: entitle another folder"
      case .program where contains && isWritable: return "\(name): \(named) is in it, which the host trusts: entitle what lies beside that"
      case .kept where contains && isWritable:
        return "\(name): \(named) is in it, which is the host's own and could be replaced there: entitle what lies beside that"
      case .shared where isWritable && place.steps.contains(where: { PathOrder.isBelow($0, own) }):
        return "\(name): \(named) is in it and could be replaced by a link to anything: entitle what lies beside that"
      default: return nil
      }
    }
  }
}

/// How absolute paths without links lie to each other.
enum PathOrder {
  /// Whether `path` is below `folder`, and not the same.
  static func isBelow(_ path: String, _ folder: String) -> Bool {
    folder == "/" ? path != "/" : path.utf8.count > folder.utf8.count && path.hasPrefix(folder + "/")
  }
}
