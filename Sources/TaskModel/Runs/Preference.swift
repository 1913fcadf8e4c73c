/// Which hosts of a fleet get a request first: a label of theirs, the name of one, or the word ``lastHost``.
///
/// The others leave such a request alone until it has been due for ``wait``. If no living host of the identifier has the label or the name,
/// nobody waits.
///
/// - Source: M. Zaharia et al., "Delay Scheduling: A Simple Technique for Achieving Locality and Fairness in Cluster Scheduling",
///   EuroSys 2010: a short wait is enough for nearly all tasks to run where their data is.
public enum Preference {
  /// Instead of a label: the host on which the request ran last, which has its caches and its files.
  public static let lastHost = "last_host"
  /// How long a request is due before other hosts take it.
  public static let wait = Duration.seconds(5)
}

extension RunConstraints {
  /// The label or the name of the hosts that get the request first; nil if all are the same to it, as to one that has not run yet and prefers
  /// its last host.
  public var preferredHosts: String? { prefer == Preference.lastHost ? lastHost : prefer }

  /// A run has ended on a host.
  public mutating func note(lastHost host: String) { if prefer == Preference.lastHost { lastHost = host } }

  /// Takes over from an earlier form of the same request where it ran last.
  public mutating func keepLastHost(of old: RunConstraints) { lastHost = prefer == Preference.lastHost ? old.lastHost : nil }
}
