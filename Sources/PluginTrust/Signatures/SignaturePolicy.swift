import Glibc
import TaskModel

/// The keys that the operator trusts, and whether plugins need a signature.
///
/// A signature must be valid even if none is required, because a mismatch shows that the plugin or the signature was changed. A signature
/// by an unknown key proves nothing, so the plugin counts as unsigned.
public struct SignaturePolicy: Sendable, Equatable {
  /// `require_signatures`: whether to refuse plugins without a trusted key's signature.
  public var isRequired: Bool

  /// The keys of `[[trusted_keys]]`.
  public var keys: [TrustedKey]

  /// Creates a policy; by default it requires no signature and trusts no key.
  public init(isRequired: Bool = false, keys: [TrustedKey] = []) {
    self.isRequired = isRequired
    self.keys = keys
  }

  /// Checks the signature beside a plugin's original against the copied content.
  ///
  /// - Throws: A refusal with the code `signature`.
  public func check(_ plugin: VerifiedPlugin, user: UInt32? = nil) throws(PluginRefusal) -> SignatureStatus {
    try check(digest: plugin.digest, of: plugin.file.path, user: user)
  }

  /// Like ``check(_:user:)``, for an unchanged plugin that was not copied again.
  ///
  /// - Parameters:
  ///   - digest: The SHA-256 of the content, 32 bytes.
  ///   - path: The plugin's path, whose directory passed the checks. The signature's path is this path with `.sig` appended.
  ///   - user: The user who, besides root, may own the signature; nil means the host's user.
  public func check(digest: [UInt8], of path: String, user: UInt32? = nil) throws(PluginRefusal) -> SignatureStatus {
    let file = PluginSigning.signatureFile(of: path)
    // Computed on demand, because only messages need it.
    var name: String { file.lastComponent }
    func refuse(_ observed: String, _ remedy: String) -> PluginRefusal {
      PluginRefusal(code: .signature, file: path, observed: observed, remedy: remedy)
    }
    let signature: PluginSignature
    do throws(SigningFlaw) {
      signature = try PluginSignature(parsing: try SmallFile.read(file, trust: .ownedInTrustedDirectory(by: user ?? geteuid())))
    } catch SmallFile.missing {
      guard isRequired else { return .unsigned(note: nil) }
      throw refuse(
        "is not signed, and require_signatures is on: \(name) does not exist",
        "Put its author's signature beside it, or sign it: taskhost plugins sign.")
    } catch {
      throw refuse("its signature \(name) \(error.observed)", "Get the signature from the plugin's source again, or remove it.")
    }
    let entries = keys.filter { $0.key.id == signature.keyID }
    guard !entries.isEmpty else {
      let observed = "is signed with the key \(signature.keyID), which is not in trusted_keys"
      guard isRequired else { return .unsigned(note: "It \(observed), so it counts as unsigned.") }
      throw refuse(observed, "Have it signed with a trusted key, or add that key's .pub file under [[trusted_keys]] if you trust it.")
    }
    guard let signer = entries.first(where: { $0.key.verifies(signature, digest: digest) }) else {
      throw refuse(
        "its signature \(name) does not match: it belongs to other content, or one of the two was changed",
        "Get the plugin and its signature from their source again.")
    }
    let identifiers = entries.filter { $0.key == signer.key }.flatMap(\.identifiers)
    return .signed(TrustedKey(key: signer.key, name: signer.name, identifiers: identifiers))
  }
}
