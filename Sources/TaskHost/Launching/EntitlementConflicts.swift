import TaskModel
import WorkerProcesses

/// Finds entitlements that no configuration may give, however much the operator trusts the plugin.
struct EntitlementConflicts {
  private let claims: [(claim: ResolvedEntitlements.Claim, location: PathLocation)]
  private let places: [(place: HostPlace, location: PathLocation)]

  init(claims: [ResolvedEntitlements.Claim], places: [HostPlace], mounts: MountTable) {
    self.claims = claims.map { ($0, PathLocation($0.entitled.path, steps: $0.steps, mounts)) }
    self.places = places.map { ($0, PathLocation($0.path, steps: $0.steps, mounts)) }
  }

  /// A sentence for each conflict.
  var sentences: [String] {
    claims.flatMap { claim, location in
      nested(claim, location) + places.lazy.compactMap { claim.conflict(location, with: $0, $1) }.prefix(1)
    }
  }

  /// A plugin that may write a folder could replace anything below it with a link.
  private func nested(_ claim: ResolvedEntitlements.Claim, _ location: PathLocation) -> [String] {
    var sentences: [String] = []
    for (other, folder) in claims where other.isWritable {
      guard let step = folder.firstStepBelow(of: location) else { continue }
      let whose = other.plugin == claim.plugin ? "the plugin itself" : "plugin \(other.plugin)"
      let subject = step == claim.configured ? "it" : step == claim.entitled.path ? "it is \(step), which" : "the link \(step) on the way"
      let mounted = PathOrder.isBelow(step, folder.path) ? "" : mountedTwice
      sentences.append(
        "\(claim.name): \(subject) lies below \(other.configured)\(mounted), which \(whose) may write (entitlements.write) and so could replace by a link to anything: entitle folders that lie beside each other"
      )
    }
    return sentences
  }
}

extension ResolvedEntitlements.Claim {
  /// A sentence about its conflict with a place of the host; nil if there is none.
  fileprivate func conflict(_ own: PathLocation, with place: HostPlace, _ location: PathLocation) -> String? {
    guard let position = own.position(seenFrom: location), place.protection.refusals.refuse(position, isWritable: isWritable) else {
      return nil
    }
    let named = place.what + " " + place.path + (own.isNamedTogether(with: location) ? "" : mountedTwice)
    switch place.protection {
    case .secret where position == .below:
      return "\(name): it is in \(named), which is the host's own: a plugin has its data directory without an entitlement"
    case .secret: return "\(name): \(named) is in it, which is the host's own: entitle what lies beside that"
    case .plugins where position == .below, .program where position == .below:
      return "\(name): it is in \(named), whose content the host trusts: entitle another folder"
    case .plugins: return "\(name): \(named) is in it, which no plugin may reach whole: entitle what lies beside that"
    case .program: return "\(name): \(named) is in it, which the host trusts: entitle what lies beside that"
    case .kept: return "\(name): \(named) is in it, which is the host's own and could be replaced there: entitle what lies beside that"
    case .shared: return "\(name): \(named) is in it and could be replaced by a link to anything: entitle what lies beside that"
    }
  }
}

/// Appended if the operator knows the place by another name.
private let mountedTwice = " (mounted in a second place)"
