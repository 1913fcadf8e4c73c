// swift-tools-version: 6.2
import PackageDescription

/// How the code of an app is compiled. A target may not have the folder of another, so `folder` has links to the folders in Sources.
struct Mode {
  let suffix: String
  let folder: String
  let apps: [String]
  let settings: [SwiftSetting]
}

// What code for iOS imports, by the names of taskhost's modules.
let appleNames = ["os=AppleCompat", "OSLog=AppleCompatOSLog", "SwiftUI=AppleCompatSwiftUI"].flatMap { ["-module-alias", $0] }

// Code as it is written for iOS, built as plugins. Build with `-Xswiftc -static-stdlib`.
let modes = [
  Mode(suffix: "5", folder: "Swift5", apps: ["PhoneApp", "DelegateApp", "SceneApp", "FieldApp"], settings: [.swiftLanguageMode(.v5)]),
  Mode(
    suffix: "6", folder: "Sources", apps: ["PhoneApp", "DelegateApp", "SceneApp", "FieldApp", "StoreApp", "GalleryApp", "SessionApp"],
    settings: [.swiftLanguageMode(.v6)]),
  // What Xcode 26 sets for a new app: all code belongs to the main actor unless it says otherwise.
  Mode(
    suffix: "26", folder: "Xcode26", apps: ["DelegateApp"],
    settings: [
      .swiftLanguageMode(.v6), .defaultIsolation(MainActor.self), .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
      .enableUpcomingFeature("InferIsolatedConformances"),
    ]),
]

let package = Package(
  name: "apple-code",
  products: modes.flatMap { mode in
    mode.apps.map { .library(name: $0 + mode.suffix, type: .dynamic, targets: [$0 + mode.suffix]) }
  },
  dependencies: [.package(name: "taskhost", path: "../../..")],
  targets: modes.flatMap { mode in
    mode.apps.map { app in
      .target(
        name: app + mode.suffix,
        dependencies: [.product(name: "BackgroundTasks", package: "taskhost"), .product(name: "AppleCompat", package: "taskhost")],
        path: "\(mode.folder)/\(app)", swiftSettings: mode.settings + [.unsafeFlags(appleNames)])
    }
  }
)
