extension ConfigurationKeyTests {
  /// `[encryption]`.
  static let encryptionProofs: [String: KeyProof] = [
    "encryption.key_file": .endToEnd(
      "EncryptionTests", "a new store has no plaintext while its host runs, after its end and when it was killed; check proves it"),
    "encryption.credential": .endToEnd("EncryptionTests", "a credential of systemd has the keys"),
    "encryption.seal": .endToEnd("EncryptionTests", "turned off in words, the store becomes plain again and needs no key"),
  ]
}
