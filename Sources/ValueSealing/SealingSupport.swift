/// Whether this machine can seal values.
public enum SealingSupport {
  /// The algorithms that its libcrypto lacks for that; empty if it has all.
  public static var missing: [String] { ExtendedGCM.missing }
}
