// swift-tools-version: 6.2
import PackageDescription

// Code for iOS imports these modules. Here, the names stand for taskhost's, which do on Linux what a plugin needs of them.
let appleNames = ["os=AppleCompat", "OSLog=AppleCompatOSLog", "SwiftUI=AppleCompatSwiftUI"].flatMap { ["-module-alias", $0] }

let package = Package(
  name: "@NAME@",
  products: [.library(name: "@TYPE@", type: .dynamic, targets: ["@TYPE@App"])],
  dependencies: [.package(name: "taskhost", path: "@SDK@")],
  targets: [
    .target(
      name: "@TYPE@App",
      dependencies: [.product(name: "AppleCompat", package: "taskhost"), .product(name: "BackgroundTasks", package: "taskhost")],
      swiftSettings: [.swiftLanguageMode(.v6), .unsafeFlags(appleNames)])
  ]
)
