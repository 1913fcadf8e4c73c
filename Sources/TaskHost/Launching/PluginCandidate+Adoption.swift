import PluginTrust
import TaskModel

extension SignaturePolicy {
  /// Checks the signatures of a manifest and of the library that it adopts.
  func check(
    _ file: ManifestFile, adopting library: AdoptedLibrary, as identifier: TaskIdentifier
  ) throws(PluginRefusal) -> SignatureStatus {
    let signature = try check(digest: file.digest, of: file.path)
    guard !library.isSystem else { return signature }
    do throws(PluginRefusal) {
      let health = try check(digest: library.digest, of: library.original)
      if let refusal = health.refusal(of: identifier, file: file.path) { throw refusal }
    } catch {
      throw PluginRefusal(
        code: error.code, file: file.path, observed: "its library \(library.original): \(error.observed)", remedy: error.remedy)
    }
    return signature
  }
}

extension PluginCandidate {
  /// Adopts the library that a manifest names.
  ///
  /// The manifest's signature covers only its text. Libraries of the system need no signature. Any other library is code like a plugin's,
  /// so it needs its own signature if signatures are required.
  init(
    adopting file: ManifestFile, copies: PluginCopies, signatures: SignaturePolicy, policy: PluginTrustPolicy
  ) throws(PluginRefusal) {
    let manifest = try AdoptionManifest(file)
    let adoption = try manifest.adoption(file)
    let library = try copies.adopt(manifest.library, symbol: manifest.symbol, manifest: file.path, policy: policy)
    let signature = try signatures.check(file, adopting: library, as: adoption.identifier)
    self.init(
      path: file.path, digest: SHA256.digest(of: file.digest + library.digest), copy: library.loaded ?? library.original, elf: nil,
      signature: signature, adoption: adoption, fileDigest: file.digest, copyDigest: library.digest, remembered: nil)
  }
}
