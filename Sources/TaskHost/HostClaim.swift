/// A state directory that is this process's alone: what must be done before a host launches, and only if it may, is done while it is held.
public final class HostClaim: Sendable {
  let directory: StateDirectory

  /// Makes the directory of `configuration` if need be and takes its lock, which is given back with the claim, or with the host it is for.
  ///
  /// - Throws: A ``HostFailure`` when another host has it, it cannot be written, or the machine does not offer what the configuration demands.
  public init(_ configuration: HostConfiguration) throws(HostFailure) {
    try configuration.checkDemands()
    directory = try StateDirectory(configuration.stateDirectory)
  }
}
