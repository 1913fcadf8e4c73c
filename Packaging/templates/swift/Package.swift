// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "@NAME@",
  products: [.library(name: "@TYPE@", type: .dynamic, targets: ["@TYPE@Plugin"])],
  dependencies: [.package(name: "taskhost", path: "@SDK@")],
  targets: [
    .target(
      name: "@TYPE@Plugin",
      dependencies: ["@TYPE@Note", .product(name: "TaskHostSDK", package: "taskhost")],
      swiftSettings: [.swiftLanguageMode(.v6)]),
    // What the host knows of the plugin before it runs any of it: one line of C.
    .target(name: "@TYPE@Note", dependencies: [.product(name: "CTaskHost", package: "taskhost")]),
  ]
)
