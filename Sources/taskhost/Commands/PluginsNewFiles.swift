// Made by Packaging/templates/embed.sh from the files there and from taskhost.h: change those.
// swift-format-ignore-file

/// The files that `taskhost plugins new` writes. @…@ is filled in.
enum PluginsNewFiles {
  /// In C.
  static let c: [(path: String, text: String)] = [
    ("Makefile", #"""
      # make          builds @NAME@.so
      # make check    builds it and tries every rule of taskhost.h on it
      # make install  copies it into PLUGINS, a host's plugin directory
      TASKHOST ?= taskhost
      PLUGINS ?= /etc/taskhost/plugins
      CFLAGS ?= -O2 -g

      .PHONY: check install clean
      @NAME@.so: src/@NAME@.c include/taskhost.h
      	$(CC) -std=c11 -Wall -Wextra -Wpedantic -fvisibility=hidden $(CFLAGS) -Iinclude -shared -fPIC $(LDFLAGS) -o $@ $<
      	@chmod go-w $@

      check: @NAME@.so
      	$(TASKHOST) plugins check @NAME@.so

      install: @NAME@.so
      	install -m 0755 @NAME@.so $(PLUGINS)/

      clean:
      	rm -f @NAME@.so
      """#),
    ("README.md", #"""
      # @NAME@

      A taskhost plugin in C: one handler for the identifier `@IDENTIFIER@`.

          make                                  # builds @NAME@.so
          make check                            # tries every rule of taskhost.h on it
          taskhost run --plugins .              # runs it; in another terminal:
          taskhost submit @IDENTIFIER@ --wait

      The work is in `src/@NAME@.c`, between "the work" and "the rest". `include/taskhost.h` is the whole contract.
      """#),
    ("src/@NAME@.c", #"""
      /*
       * @NAME@.c - a taskhost plugin.
       *
       * A run does its work in steps. After each it records in a checkpoint how far it is, so that a run that is stopped
       * (its budget is spent, the host shuts down) or killed goes on from there the next time.
       */
      #include "taskhost.h"

      #include <stdatomic.h>
      #include <stdbool.h>
      #include <string.h>

      #define IDENTIFIER "@IDENTIFIER@"
      #define VERSION "0.1.0"

      /* What the host knows of this file before it runs any of it. As registered below. */
      TASKHOST_PLUGIN_NOTE(IDENTIFIER, "@KIND@", 0, VERSION);

      TASKHOST_EXPORT const uint32_t taskhost_plugin_abi_version = TASKHOST_ABI_VERSION;

      /* The host's functions: read-only and valid as long as the process, so every run may use the pointer. */
      static const taskhost_api *host;

      /* ---- the work ---- */

      enum { STEPS = 10 };

      /* One step. It is done again if the process dies before the checkpoint is written: it must be idempotent. */
      static taskhost_status do_step(taskhost_task task, uint64_t step) {
        (void)step;
        return host->sleep(task, 10); /* stands for work; EEXPIRED as soon as the run is asked to stop */
      }

      /* ---- the rest ---- */

      /* Where an earlier run of this request left off; 0 if it is the first. The bytes may be an earlier version's. */
      static uint64_t first_step(taskhost_task task) {
        uint64_t step = 0;
        size_t length = 0;
        taskhost_status status = host->checkpoint_get(task, &step, sizeof step, &length);
        return status == TASKHOST_OK && length == sizeof step && step <= STEPS ? step : 0;
      }

      /* Called on a thread of the host's while the handler runs: it only says so. */
      static void on_expiration(taskhost_task task, taskhost_stop_reason reason, void *context) {
        (void)task;
        (void)reason;
        atomic_store((atomic_bool *)context, true);
      }

      static taskhost_result work(taskhost_task task, const atomic_bool *stop) {
        const uint64_t first = first_step(task);
        for (uint64_t step = first; step < STEPS; step++) {
          taskhost_status status = atomic_load(stop) ? TASKHOST_EEXPIRED : do_step(task, step);
          if (status == TASKHOST_EEXPIRED) {
            host->set_message(task, "asked to stop before the end");
            /* SNOOZE costs no attempt, but only a run that got on may ask for it: else it could go on for ever. */
            return step > first ? TASKHOST_SNOOZE : TASKHOST_RETRY;
          }
          const uint64_t done = step + 1;
          if (status == TASKHOST_OK) status = host->checkpoint_set(task, &done, sizeof done);
          if (status != TASKHOST_OK) {
            host->set_message(task, host->last_error());
            return TASKHOST_RETRY;
          }
          host->progress(task, done, STEPS);
        }
        host->log(task, TASKHOST_INFO, "done");
        return TASKHOST_SUCCESS;
      }

      /* One run. Called on a thread of its own; the return value is the outcome. */
      static taskhost_result handle(taskhost_task task, void *context) {
        (void)context;
        atomic_bool stop = false;
        if (host->set_expiration_handler(task, on_expiration, &stop) == TASKHOST_EEXPIRED) atomic_store(&stop, true);
        taskhost_result result = work(task, &stop);
        /* `stop` is on this stack: from here on the handler is not called any more, and a call in progress has returned. */
        host->set_expiration_handler(task, NULL, NULL);
        return result;
      }

      TASKHOST_EXPORT taskhost_status taskhost_plugin_launch(const taskhost_api *api, taskhost_launch launch) {
        if (api == NULL) return TASKHOST_EINVAL;
        if (api->abi_version < TASKHOST_ABI_VERSION || !TASKHOST_HAS(api, extension)) return TASKHOST_EUNSUPPORTED;
        host = api;

        taskhost_registration registration;
        memset(&registration, 0, sizeof registration);
        registration.struct_size = sizeof registration;
        registration.kind = @KIND_CONSTANT@;
        registration.identifier = IDENTIFIER;
        registration.handler = handle;
        registration.display_name = "@NAME@";
        registration.version = VERSION;
        return api->register_handler(launch, &registration);
      }
      """#),
    ("include/taskhost.h", header),
  ]

  /// In C++.
  static let cpp: [(path: String, text: String)] = [
    ("Makefile", #"""
      # make          builds @NAME@.so
      # make check    builds it and tries every rule of taskhost.h on it
      # make install  copies it into PLUGINS, a host's plugin directory
      TASKHOST ?= taskhost
      PLUGINS ?= /etc/taskhost/plugins
      CXXFLAGS ?= -O2 -g

      .PHONY: check install clean
      @NAME@.so: src/@NAME@.cpp include/taskhost.h
      	$(CXX) -std=c++17 -Wall -Wextra -Wpedantic -fvisibility=hidden $(CXXFLAGS) -Iinclude -shared -fPIC -static-libstdc++ -static-libgcc $(LDFLAGS) -o $@ $<
      	@chmod go-w $@

      check: @NAME@.so
      	$(TASKHOST) plugins check @NAME@.so

      install: @NAME@.so
      	install -m 0755 @NAME@.so $(PLUGINS)/

      clean:
      	rm -f @NAME@.so
      """#),
    ("README.md", #"""
      # @NAME@

      A taskhost plugin in C++17: one handler for the identifier `@IDENTIFIER@`.

          make                                  # builds @NAME@.so
          make check                            # tries every rule of taskhost.h on it
          taskhost run --plugins .              # runs it; in another terminal:
          taskhost submit @IDENTIFIER@ --wait

      The work is in `src/@NAME@.cpp`, between "the work" and "the rest". `include/taskhost.h` is the whole contract.
      """#),
    ("src/@NAME@.cpp", #"""
      /*
       * @NAME@.cpp - a taskhost plugin in C++17.
       *
       * A run does its work in steps. After each it records in a checkpoint how far it is, so that a run that is stopped
       * (its budget is spent, the host shuts down) or killed goes on from there the next time.
       */
      #include "taskhost.h"

      #include <chrono>
      #include <condition_variable>
      #include <exception>
      #include <mutex>
      #include <stdexcept>

      #define IDENTIFIER "@IDENTIFIER@"
      #define VERSION "0.1.0"

      /* What the host knows of this file before it runs any of it. As registered below. */
      TASKHOST_PLUGIN_NOTE(IDENTIFIER, "@KIND@", 0, VERSION);

      /* Exported, with C linkage, as the header declares it. */
      const uint32_t taskhost_plugin_abi_version = TASKHOST_ABI_VERSION;

      namespace {

      /* The host's functions: read-only and valid as long as the process, so every run may use the pointer. */
      const taskhost_api *host = nullptr;

      /*
       * Listens for the expiration of a run while it lives. The handler gets `this`, which is on the run's stack: that is safe
       * because the destructor clears it, and clearing waits for a call in progress.
       */
      class Expiration {
       public:
        explicit Expiration(taskhost_task task) : task_(task) {
          /* Either it is set or we are told that it will never be called. */
          if (host->set_expiration_handler(task, &Expiration::called, this) == TASKHOST_EEXPIRED) expired_ = true;
        }
        ~Expiration() { host->set_expiration_handler(task_, nullptr, nullptr); }
        Expiration(const Expiration &) = delete;
        Expiration &operator=(const Expiration &) = delete;

        /* Waits that long, or until the run expires; true: it has. */
        bool wait_for(std::chrono::milliseconds duration) {
          std::unique_lock<std::mutex> lock(mutex_);
          return wake_.wait_for(lock, duration, [this] { return expired_; });
        }

       private:
        /* Called on a thread of the host's, beside the run. Nothing here throws. */
        static void called(taskhost_task, taskhost_stop_reason, void *context) noexcept {
          auto *self = static_cast<Expiration *>(context);
          const std::lock_guard<std::mutex> lock(self->mutex_);
          self->expired_ = true;
          self->wake_.notify_all();
        }

        const taskhost_task task_;
        std::mutex mutex_;
        std::condition_variable wake_;
        bool expired_ = false;
      };

      /* Throws what the host says of a call that did not succeed. No exception leaves `handle`. */
      void check(taskhost_status status) {
        if (status != TASKHOST_OK) throw std::runtime_error(host->last_error());
      }

      /* ---- the work ---- */

      constexpr uint64_t steps = 10;

      /* One step; false: the run is asked to stop. It is done again if the process dies before the checkpoint is written. */
      bool do_step(Expiration &expiration) { return !expiration.wait_for(std::chrono::milliseconds(10)); }

      /* ---- the rest ---- */

      /* Where an earlier run of this request left off; 0 if it is the first. The bytes may be an earlier version's. */
      uint64_t first_step(taskhost_task task) {
        uint64_t step = 0;
        size_t length = 0;
        const taskhost_status status = host->checkpoint_get(task, &step, sizeof step, &length);
        return status == TASKHOST_OK && length == sizeof step && step <= steps ? step : 0;
      }

      taskhost_result work(taskhost_task task) {
        Expiration expiration(task);
        const uint64_t first = first_step(task);
        for (uint64_t step = first; step < steps; step++) {
          if (!do_step(expiration)) {
            host->set_message(task, "asked to stop before the end");
            /* SNOOZE costs no attempt, but only a run that got on may ask for it: else it could go on for ever. */
            return step > first ? TASKHOST_SNOOZE : TASKHOST_RETRY;
          }
          const uint64_t done = step + 1;
          check(host->checkpoint_set(task, &done, sizeof done));
          host->progress(task, done, steps);
        }
        host->log(task, TASKHOST_INFO, "done");
        return TASKHOST_SUCCESS;
      }

      /* One run, on a thread of its own: the boundary at which exceptions end. */
      taskhost_result handle(taskhost_task task, void *) noexcept {
        try {
          return work(task);
        } catch (const std::exception &error) {
          host->set_message(task, error.what());
        } catch (...) {
          host->set_message(task, "an exception that is no std::exception");
        }
        return TASKHOST_RETRY;
      }

      }  // namespace

      TASKHOST_EXPORT taskhost_status taskhost_plugin_launch(const taskhost_api *api, taskhost_launch launch) {
        if (api == nullptr) return TASKHOST_EINVAL;
        if (api->abi_version < TASKHOST_ABI_VERSION || !TASKHOST_HAS(api, extension)) return TASKHOST_EUNSUPPORTED;
        host = api;

        taskhost_registration registration{}; /* all zero: what is not set here is the host's default */
        registration.struct_size = sizeof registration;
        registration.kind = @KIND_CONSTANT@;
        registration.identifier = IDENTIFIER;
        registration.handler = handle;
        registration.display_name = "@NAME@";
        registration.version = VERSION;
        return api->register_handler(launch, &registration);
      }
      """#),
    ("include/taskhost.h", header),
  ]

  /// In Rust.
  static let rust: [(path: String, text: String)] = [
    ("Makefile", #"""
      # make          builds @NAME@.so
      # make check    builds it and tries every rule of taskhost.h on it
      # make install  copies it into PLUGINS, a host's plugin directory
      TASKHOST ?= taskhost
      PLUGINS ?= /etc/taskhost/plugins
      RUSTC ?= rustc
      RUSTFLAGS ?= -O -C strip=debuginfo

      .PHONY: check install clean
      @NAME@.so: src/lib.rs src/taskhost.rs
      	$(RUSTC) --edition 2021 --crate-type cdylib --crate-name @CRATE@ -C panic=unwind -D warnings $(RUSTFLAGS) -o $@ src/lib.rs
      	@chmod go-w $@

      check: @NAME@.so
      	$(TASKHOST) plugins check @NAME@.so

      install: @NAME@.so
      	install -m 0755 @NAME@.so $(PLUGINS)/

      clean:
      	rm -f @NAME@.so
      """#),
    ("README.md", #"""
      # @NAME@

      A taskhost plugin in Rust (1.63 or later, no cargo, no dependencies): one handler for the identifier `@IDENTIFIER@`.

          make                                  # builds @NAME@.so
          make check                            # tries every rule of taskhost.h on it
          taskhost run --plugins .              # runs it; in another terminal:
          taskhost submit @IDENTIFIER@ --wait

      The work is in `src/lib.rs`. `src/taskhost.rs` is what taskhost.h says, in Rust; `include/taskhost.h` says it with every rule.
      """#),
    ("src/lib.rs", #"""
      //! A taskhost plugin in Rust.
      //!
      //! A run does its work in steps. After each it records in a checkpoint how far it is, so that a run that is stopped (its
      //! budget is spent, the host shuts down) or killed goes on from there the next time.

      #[macro_use]
      mod taskhost;

      use std::sync::atomic::{AtomicBool, Ordering};
      use taskhost::{Error, Outcome, Task, EEXPIRED};

      plugin! {
          identifier: "@IDENTIFIER@",
          kind: "@KIND@",
          version: "0.1.0",
          display_name: "@NAME@",
          handler: run,
      }

      const STEPS: u64 = 10;

      /// One step. It is done again if the process dies before the checkpoint is written: it must be idempotent.
      fn do_step(task: &Task, _step: u64) -> Result<(), Error> {
          task.sleep_ms(10) // stands for work; EEXPIRED as soon as the run is asked to stop
      }

      /// One run, in safe Rust. An error becomes a retry with its message, a panic a failure.
      fn run(task: &Task) -> Result<Outcome, Error> {
          let stop = AtomicBool::new(false);
          // Called on a thread of the host's while this runs: it only says so.
          task.with_expiration_handler(|_reason| stop.store(true, Ordering::Relaxed), || work(task, &stop))
      }

      fn work(task: &Task, stop: &AtomicBool) -> Result<Outcome, Error> {
          let first = first_step(task);
          for step in first..STEPS {
              let result = if stop.load(Ordering::Relaxed) { Err(Error::expired()) } else { do_step(task, step) };
              match result {
                  Ok(()) => {}
                  Err(Error { status: EEXPIRED, .. }) => {
                      task.set_message("asked to stop before the end");
                      // Snooze costs no attempt, but only a run that got on may ask for it: else it could go on for ever.
                      return Ok(if step > first { Outcome::Snooze } else { Outcome::Retry });
                  }
                  Err(error) => return Err(error),
              }
              task.set_checkpoint(&(step + 1).to_le_bytes())?;
              task.progress(step + 1, STEPS);
          }
          task.info("done");
          Ok(Outcome::Success)
      }

      /// Where an earlier run of this request left off; 0 if it is the first. The bytes may be an earlier version's.
      fn first_step(task: &Task) -> u64 {
          let mut bytes = [0; 8];
          match task.checkpoint(&mut bytes) {
              Ok(8) => Some(u64::from_le_bytes(bytes)).filter(|step| *step <= STEPS).unwrap_or(0),
              _ => 0,
          }
      }
      """#),
    ("src/taskhost.rs", #"""
      //! taskhost.h, version 1, as far as a plugin in Rust needs it. The header has every rule at the thing it governs.
      #![allow(dead_code)]

      use std::ffi::{CStr, CString};
      use std::os::raw::{c_char, c_int, c_void};
      use std::panic::{catch_unwind, AssertUnwindSafe};
      use std::sync::atomic::{AtomicPtr, Ordering};

      pub type Status = i32;
      pub const OK: Status = 0;
      pub const EINVAL: Status = -1;
      pub const EEXPIRED: Status = -6;
      pub const EUNSUPPORTED: Status = -9;

      /// What a run comes to.
      #[derive(Clone, Copy, Debug, PartialEq, Eq)]
      #[repr(i32)]
      pub enum Outcome {
          /// Done.
          Success = 0,
          /// There was nothing to do.
          Noop = 1,
          /// More to do: run again soon; costs no attempt.
          Snooze = 2,
          /// Failed for now: one attempt spent.
          Retry = 3,
          /// Failed for good.
          Failure = 4,
      }

      /// A call to the host that did not succeed, with the host's sentence about it.
      #[derive(Debug)]
      pub struct Error {
          pub status: Status,
          pub message: String,
      }

      impl Error {
          /// The run is asked to stop.
          pub fn expired() -> Error {
              Error { status: EEXPIRED, message: "the run has expired".to_string() }
          }
      }

      /// One run. The handle is a number: a call after the run is over gives an error and touches nothing.
      pub struct Task {
          host: &'static Api,
          handle: u64,
      }

      impl Task {
          /// What the request carries; the host's until the handler has returned.
          pub fn payload(&self) -> Result<&[u8], Error> {
              let mut bytes: *const c_void = std::ptr::null();
              let mut length = 0;
              // SAFETY: both places are valid for the call.
              self.check(unsafe { (self.host.payload)(self.handle, &mut bytes, &mut length) })?;
              // SAFETY: after OK the bytes are not NULL and `length` long.
              Ok(unsafe { std::slice::from_raw_parts(bytes as *const u8, length) })
          }

          /// A line in the run's log.
          pub fn info(&self, line: &str) {
              let line = c_string(line);
              // SAFETY: the string is valid during the call, and copied.
              let _ = unsafe { (self.host.log)(self.handle, 2, line.as_ptr()) };
          }

          /// Progress, for people and for stall detection.
          pub fn progress(&self, completed: u64, total: u64) {
              // SAFETY: numbers only.
              let _ = unsafe { (self.host.progress)(self.handle, completed, total) };
          }

          /// Why it failed or retries, a sentence for the operator.
          pub fn set_message(&self, text: &str) {
              let text = c_string(text);
              // SAFETY: the string is valid during the call, and copied.
              let _ = unsafe { (self.host.set_message)(self.handle, text.as_ptr()) };
          }

          /// The run's output, at most 65,536 bytes.
          pub fn set_output(&self, bytes: &[u8]) -> Result<(), Error> {
              // SAFETY: the bytes are valid during the call, and copied.
              self.check(unsafe { (self.host.set_output)(self.handle, bytes.as_ptr() as *const c_void, bytes.len()) })
          }

          /// Sleeps on the host's clock; `EEXPIRED` as soon as the run has expired.
          pub fn sleep_ms(&self, milliseconds: u64) -> Result<(), Error> {
              // SAFETY: numbers only.
              self.check(unsafe { (self.host.sleep)(self.handle, milliseconds) })
          }

          /// Copies what `set_checkpoint` recorded, in an earlier run perhaps; gives its length.
          pub fn checkpoint(&self, buffer: &mut [u8]) -> Result<usize, Error> {
              let mut length = 0;
              let place = buffer.as_mut_ptr() as *mut c_void;
              // SAFETY: the buffer is valid and as long as is said.
              self.check(unsafe { (self.host.checkpoint_get)(self.handle, place, buffer.len(), &mut length) })?;
              Ok(length)
          }

          /// Records where this run is; durable when it returns.
          pub fn set_checkpoint(&self, bytes: &[u8]) -> Result<(), Error> {
              // SAFETY: the bytes are valid during the call, and copied.
              self.check(unsafe { (self.host.checkpoint_set)(self.handle, bytes.as_ptr() as *const c_void, bytes.len()) })
          }

          /// Does `body` while `handler` waits to be told, on another thread, why the run must end. It is never called after this has returned.
          pub fn with_expiration_handler<H: Fn(i32) + Sync, R>(&self, handler: H, body: impl FnOnce() -> R) -> R {
              extern "C" fn call<H: Fn(i32) + Sync>(_task: u64, reason: i32, context: *mut c_void) {
                  // SAFETY: the context is the handler below, which outlives the call: clearing waits for it. A panic must not reach the host.
                  let _ = catch_unwind(AssertUnwindSafe(|| unsafe { (*(context as *const H))(reason) }));
              }
              struct Clear<'a>(&'a Task);
              impl Drop for Clear<'_> {
                  fn drop(&mut self) {
                      // SAFETY: NULL clears, and waits for a call in progress.
                      let _ = unsafe { (self.0.host.set_expiration_handler)(self.0.handle, None, std::ptr::null_mut()) };
                  }
              }
              let context = &handler as *const H as *mut c_void;
              // SAFETY: `handler` lives until `Clear` has been dropped, which is before it, whatever `body` does.
              let status = unsafe { (self.host.set_expiration_handler)(self.handle, Some(call::<H>), context) };
              let _clear = Clear(self);
              if status == EEXPIRED {
                  handler(0); // either it is set or we are told
              }
              body()
          }

          fn check(&self, status: Status) -> Result<(), Error> {
              if status == OK {
                  return Ok(());
              }
              // SAFETY: never NULL, and valid until this thread's next call.
              let message = unsafe { CStr::from_ptr((self.host.last_error)()) };
              Err(Error { status, message: message.to_string_lossy().into_owned() })
          }
      }

      /// Text as C sees it: a NUL, which would cut it, is left out.
      fn c_string(text: &str) -> CString {
          CString::new(text.bytes().filter(|byte| *byte != 0).collect::<Vec<u8>>()).unwrap_or_default()
      }

      // ---- what `plugin!` is made of ----

      /// The host's functions. Set by the launch, before any run; the table lives as long as the process.
      static HOST: AtomicPtr<Api> = AtomicPtr::new(std::ptr::null_mut());

      /// Serves a run: the boundary at which panics and errors end.
      pub fn serve(handle: u64, handler: fn(&Task) -> Result<Outcome, Error>) -> i32 {
          let host = HOST.load(Ordering::Acquire);
          // SAFETY: the launch stored the table before the host could start a run, and the table is never freed.
          let task = match unsafe { host.as_ref() } {
              Some(host) => Task { host, handle },
              None => return Outcome::Failure as i32,
          };
          match catch_unwind(AssertUnwindSafe(|| handler(&task))) {
              Ok(Ok(outcome)) => outcome as i32,
              Ok(Err(error)) => {
                  task.set_message(&error.message);
                  Outcome::Retry as i32
              }
              Err(_) => {
                  task.set_message("the handler panicked; what it said is in the host's log");
                  Outcome::Failure as i32
              }
          }
      }

      /// Registers a handler.
      ///
      /// # Safety
      /// `api` is NULL or the host's table, as taskhost.h says; the texts end with a NUL.
      pub unsafe fn register(api: *const Api, launch: u64, kind: &str, texts: [&'static str; 3], handler: Handler) -> Status {
          let host = match api.as_ref() {
              Some(host) => host,
              None => return EINVAL,
          };
          if host.abi_version < 1 || (host.struct_size as usize) < std::mem::size_of::<Api>() {
              return EUNSUPPORTED;
          }
          HOST.store(api as *mut Api, Ordering::Release);
          let registration = Registration {
              struct_size: std::mem::size_of::<Registration>() as u32,
              kind: match kind {
                  "processing" => 2,
                  "continued" => 3,
                  _ => 1,
              },
              identifier: texts[0].as_ptr() as *const c_char,
              handler: Some(handler),
              context: std::ptr::null_mut(),
              display_name: texts[1].as_ptr() as *const c_char,
              version: texts[2].as_ptr() as *const c_char,
              budget_ms: 0,
              max_concurrent_runs: 0,
              reserved: 0,
              signature: std::ptr::null(),
              function: None,
          };
          (host.register_handler)(launch, &registration) // copied before it returns
      }

      /// The note: what the host knows of the file before it runs any of it.
      #[repr(C, align(4))]
      pub struct Note<const LENGTH: usize> {
          owner_bytes: u32,
          text_bytes: u32,
          kind: u32,
          owner: [u8; 12],
          text: [u8; LENGTH],
      }

      impl<const LENGTH: usize> Note<LENGTH> {
          /// A note of `text`, which has at most `LENGTH` bytes; `LENGTH` is a multiple of 4.
          pub const fn new(text: &str) -> Note<LENGTH> {
              let mut bytes = [0; LENGTH];
              let mut index = 0;
              while index < text.len() {
                  bytes[index] = text.as_bytes()[index];
                  index += 1;
              }
              Note { owner_bytes: 9, text_bytes: text.len() as u32, kind: 0x5448_0001, owner: *b"taskhost\0\0\0\0", text: bytes }
          }
      }

      /// Exports what the host looks for.
      macro_rules! plugin {
          (identifier: $identifier:literal, kind: $kind:literal, version: $version:literal, display_name: $name:literal, handler: $handler:path $(,)?) => {
              const NOTE_TEXT: &str =
                  concat!("format=1\nabi=1\nidentifier=", $identifier, "\nkind=", $kind, "\nbudget_ms=0\nversion=", $version, "\n");

              #[used]
              #[link_section = ".note.taskhost"]
              static NOTE: $crate::taskhost::Note<{ (NOTE_TEXT.len() + 3) / 4 * 4 }> = $crate::taskhost::Note::new(NOTE_TEXT);

              /// Read before anything is called.
              #[no_mangle]
              #[allow(non_upper_case_globals)]
              pub static taskhost_plugin_abi_version: u32 = 1;

              extern "C" fn serve_run(task: u64, _context: *mut std::os::raw::c_void) -> i32 {
                  $crate::taskhost::serve(task, $handler)
              }

              /// Registers the handler.
              ///
              /// # Safety
              /// `api` is NULL or the host's table, as taskhost.h says.
              #[no_mangle]
              pub unsafe extern "C" fn taskhost_plugin_launch(api: *const $crate::taskhost::Api, launch: u64) -> i32 {
                  let texts = [concat!($identifier, "\0"), concat!($name, "\0"), concat!($version, "\0")];
                  $crate::taskhost::register(api, launch, $kind, texts, serve_run)
              }
          };
      }

      // ---- the layout of taskhost.h ----

      pub type Handler = extern "C" fn(u64, *mut c_void) -> i32;
      pub type ExpirationHandler = extern "C" fn(u64, i32, *mut c_void);
      type Function = unsafe extern "C" fn();

      #[repr(C)]
      pub struct Registration {
          struct_size: u32,
          kind: i32,
          identifier: *const c_char,
          handler: Option<Handler>,
          context: *mut c_void,
          display_name: *const c_char,
          version: *const c_char,
          budget_ms: u64,
          max_concurrent_runs: u32,
          reserved: u32,
          signature: *const c_char,
          function: Option<Function>,
      }

      #[repr(C)]
      pub struct Api {
          struct_size: u32,
          abi_version: u32,
          register_handler: unsafe extern "C" fn(u64, *const Registration) -> Status,
          configuration: unsafe extern "C" fn(u64) -> *const c_char,
          data_directory: unsafe extern "C" fn(u64) -> *const c_char,
          launch_submit: Function,
          launch_log: unsafe extern "C" fn(u64, i32, *const c_char) -> Status,
          payload: unsafe extern "C" fn(u64, *mut *const c_void, *mut usize) -> Status,
          identifier: unsafe extern "C" fn(u64) -> *const c_char,
          request_id: unsafe extern "C" fn(u64) -> *const c_char,
          attempt: unsafe extern "C" fn(u64) -> u32,
          remaining_ms: unsafe extern "C" fn(u64) -> i64,
          grace_ms: unsafe extern "C" fn(u64) -> i64,
          is_expired: unsafe extern "C" fn(u64) -> i32,
          stop_reason: unsafe extern "C" fn(u64) -> i32,
          expiration_fd: unsafe extern "C" fn(u64) -> c_int,
          set_expiration_handler: unsafe extern "C" fn(u64, Option<ExpirationHandler>, *mut c_void) -> Status,
          progress: unsafe extern "C" fn(u64, u64, u64) -> Status,
          log: unsafe extern "C" fn(u64, i32, *const c_char) -> Status,
          set_output: unsafe extern "C" fn(u64, *const c_void, usize) -> Status,
          set_message: unsafe extern "C" fn(u64, *const c_char) -> Status,
          retry_after: unsafe extern "C" fn(u64, u64) -> Status,
          now_unix_ms: unsafe extern "C" fn(u64) -> i64,
          sleep: unsafe extern "C" fn(u64, u64) -> Status,
          state_get: unsafe extern "C" fn(u64, *const c_char, *mut c_void, usize, *mut usize) -> Status,
          state_set: unsafe extern "C" fn(u64, *const c_char, *const c_void, usize) -> Status,
          checkpoint_get: unsafe extern "C" fn(u64, *mut c_void, usize, *mut usize) -> Status,
          checkpoint_set: unsafe extern "C" fn(u64, *const c_void, usize) -> Status,
          submit: Function,
          cancel: unsafe extern "C" fn(u64, *const c_char) -> Status,
          last_error: unsafe extern "C" fn() -> *const c_char,
          extension: unsafe extern "C" fn(*const c_char) -> *const c_void,
      }

      // SAFETY: the host's table is read-only memory.
      unsafe impl Sync for Api {}

      // The sizes that taskhost.h asserts.
      const _: () = assert!(std::mem::size_of::<Registration>() == 80);
      const _: () = assert!(std::mem::size_of::<Api>() == 248);
      """#),
    ("include/taskhost.h", header),
  ]

  /// In Swift.
  static let swift: [(path: String, text: String)] = [
    ("Makefile", #"""
      # make          builds @NAME@.so
      # make check    builds it and tries every rule of taskhost.h on it
      # make install  copies it into PLUGINS, a host's plugin directory
      TASKHOST ?= taskhost
      PLUGINS ?= /etc/taskhost/plugins
      SCRATCH ?= .build

      .PHONY: build check install clean
      # -static-stdlib: the plugin brings its own Swift. It is for the compiler, so that no object asks for a library of Swift's: the linker alone
      # would leave that in. A worker has no Swift to offer.
      build:
      	swift build -c release -Xswiftc -static-stdlib --scratch-path $(SCRATCH) --product @TYPE@
      	install -m 0755 $(SCRATCH)/release/lib@TYPE@.so @NAME@.so

      check: build
      	$(TASKHOST) plugins check @NAME@.so

      install: build
      	install -m 0755 @NAME@.so $(PLUGINS)/

      clean:
      	rm -rf $(SCRATCH) @NAME@.so
      """#),
    ("Package.swift", #"""
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
      """#),
    ("README.md", #"""
      # @NAME@

      A taskhost plugin in Swift: one handler for the identifier `@IDENTIFIER@`.

          make                                  # builds @NAME@.so
          make check                            # tries every rule of taskhost.h on it
          taskhost run --plugins .              # runs it; in another terminal:
          taskhost submit @IDENTIFIER@ --wait

      `make` builds with `-Xswiftc -static-stdlib`: the plugin brings its own Swift, since a worker has none to offer.

      The work is in `Sources/@TYPE@Plugin/@TYPE@Task.swift`. The package depends on taskhost's, which is at `@SDK@`.
      """#),
    ("Sources/@TYPE@Note/include/@TYPE@Note.h", #"""
      /* Nothing to import: the note is data for the host. */
      """#),
    ("Sources/@TYPE@Note/note.c", #"""
      #include "taskhost.h"

      /* As @TYPE@Task registers: identifier, kind, budget_ms (0: the kind's), version; and the Swift it is built with. */
      TASKHOST_PLUGIN_NOTE_SWIFT("@IDENTIFIER@", "@KIND@", 0, "0.1.0", "@SWIFT@");
      """#),
    ("Sources/@TYPE@Plugin/@TYPE@Task.swift", #"""
      public import TaskHostSDK

      /// A background task that does its work in steps.
      ///
      /// After each step it records in a checkpoint how far it is: a run that is stopped or killed goes on from there the next time.
      struct @TYPE@Task: BackgroundTask {
        static let identifier = "@IDENTIFIER@"
        static let kind = TaskKind.@KIND@
        static let displayName: String? = "@NAME@"
        static let version: String? = "0.1.0"

        private static let steps = 10

        init(_ launch: LaunchContext<NoSettings>) {}

        /// One run. An error ends it as a retry, with its description as the message.
        func run(_ task: TaskContext<NoPayload>) async throws -> TaskResult {
          try await withTaskCancellationHandler {
            try await work(task)
          } onCancel: {
            // The expiration handler: the host cancels the Swift task of a run that must end. `sleep` and other calls then throw.
            task.logger.notice("asked to stop")
          }
        }

        private func work(_ task: TaskContext<NoPayload>) async throws -> TaskResult {
          let first = firstStep(task)
          var done = first
          do {
            while done < Self.steps {
              try await doStep(done, task)
              done += 1
              try task.checkpoint.save([UInt8(done)])
              task.progress(UInt64(done), of: UInt64(Self.steps))
            }
            return .success
          } catch is CancellationError {
            task.setMessage("asked to stop before the end")
            // Snooze costs no attempt, but only a run that got on may ask for it: else it could go on for ever.
            return done > first ? .snooze() : .retry()
          }
        }

        /// One step. It is done again if the process dies before the checkpoint is written: it must be idempotent.
        private func doStep(_ step: Int, _ task: TaskContext<NoPayload>) async throws {
          try await task.sleep(for: .milliseconds(10))
        }

        /// Where an earlier run of this request left off; 0 if it is the first. The bytes may be an earlier version's.
        private func firstStep(_ task: TaskContext<NoPayload>) -> Int {
          guard let bytes = try? task.checkpoint.load(), bytes.count == 1, bytes[0] <= Self.steps else { return 0 }
          return Int(bytes[0])
        }
      }

      /// What the host calls to launch the plugin.
      @c(taskhost_plugin_launch)
      public func launch(_ api: UnsafePointer<taskhost_api>?, _ launch: taskhost_launch) -> taskhost_status {
        TaskHostPlugin.launch(@TYPE@Task.self, api, launch)
      }
      """#),
  ]

  /// taskhost.h
  static let header = #"""
    /*
     * taskhost.h - the contract between taskhost and its plugins, ABI version 1.
     *
     * A plugin is one shared object (.so) that exports
     *
     *     const uint32_t  taskhost_plugin_abi_version;                       (required)
     *     taskhost_status taskhost_plugin_launch(const taskhost_api *, taskhost_launch);   (required)
     *     void            taskhost_plugin_shutdown(void);                    (optional)
     *     const uint32_t  taskhost_plugin_handler_limit;                     (optional; absent: 1)
     *     void            taskhost_plugin_serve_main_thread(void);           (optional)
     *
     * and registers, during taskhost_plugin_launch, one handler for one task identifier. It needs no
     * linking: everything the host offers is reached through the table of function pointers it is given.
     *
     * TRUST
     *   isolation = "process": the plugin runs in a worker process of its own. A crash, a hang, exit() or
     *     a memory blow-up costs that worker alone; the host kills it when time is up.
     *   isolation = "thread": the plugin runs inside the host and is trusted as much as the host. Threads
     *     cannot be killed: a handler that ignores its expiration is abandoned and the plugin suspended.
     *   The rules below are the same in both.
     *
     * AT LEAST ONCE
     *   A request may be run again after a crash, a lost worker, a retry or an expiration. Handlers must be
     *   idempotent; request_id() is the key to be idempotent with: it stays the same over all attempts.
     *
     * THREADS
     *   taskhost_plugin_launch    called on a host thread, in a worker process on its main thread; one launch
     *                             at a time per process. It may be called more than once (probes, restarted
     *                             workers), must register the same each time, and does no I/O of consequence.
     *   the handler               called on a thread that serves this run alone, 8 MiB of stack, asynchronous
     *                             signals blocked, named after the identifier's last label.
     *   the expiration handler    called on a host thread that is not the run's, at most once per run.
     *   taskhost_plugin_shutdown  called once, when no run is live; 5 s.
     *   run-phase functions       may be called from any thread while the run is live, grace included.
     *   launch-phase functions    may be called from any thread until taskhost_plugin_launch returns.
     *
     * MEMORY
     *   Borrowed in, copied out: strings and bytes given to the host are copied before the call returns.
     *   What the host gives (payload, identifier, request_id) is the host's and valid until the handler
     *   returns, also when the run was stopped by force meanwhile. configuration and data_directory are
     *   valid until taskhost_plugin_launch returns. Nothing is ever freed by the other side.
     *
     * HANDLES
     *   A launch or task handle is a number, not a pointer; 0 is never valid. A call with a handle that is
     *   over, or never was, gives TASKHOST_ESTALE (for the launch: TASKHOST_ELAUNCHED) and touches nothing.
     *
     * A PLUGIN MUST NOT
     *   call exit, _exit or quick_exit; fork without exec; install signal handlers or change dispositions;
     *   change the working directory, umask, locale or credentials; let a C++ exception or a longjmp cross
     *   into the host; end its run's thread with pthread_exit; keep threads after taskhost_plugin_shutdown
     *   has returned. A plugin is a single file (no $ORIGIN: it may be loaded from a private copy) and is
     *   never unloaded while its process lives.
     *
     * STABILITY
     *   Names, numbers and meanings here are final. Every struct begins with struct_size, has no padding and
     *   only ever grows at its end. A struct larger than the reader knows is accepted when the extra bytes
     *   are zero, refused with TASKHOST_EUNSUPPORTED otherwise; struct_size 0, smaller than version 1's, or
     *   over 4096 is TASKHOST_EINVAL. Ask TASKHOST_HAS(api, field) before calling a function that a later
     *   header added.
     *
     * Plain C11, C++17-clean. LP64 only.
     */
    #ifndef TASKHOST_H
    #define TASKHOST_H

    #include <stddef.h>
    #include <stdint.h>

    #ifdef __cplusplus
    extern "C" {
    #endif

    /* The ABI version this header describes: the value of taskhost_plugin_abi_version. */
    #define TASKHOST_ABI_VERSION 1u

    /* Put before the definitions a plugin exports, so that -fvisibility=hidden does not hide them. */
    #if defined(__GNUC__)
    #define TASKHOST_EXPORT __attribute__((visibility("default")))
    #else
    #define TASKHOST_EXPORT
    #endif

    /* Valid from the moment taskhost_plugin_launch is called until it returns. */
    typedef uint64_t taskhost_launch;
    /* A run: 16 bits of slot, 48 bits of run counter. Valid until the handler returns or the run is forced. Of a run that
     * expired, submit, cancel, list, cancel_identifier and cancel_all take it until the run's grace would have been over,
     * also when its handler has returned: the work it stopped may come to its end, and ask for its next run, later. */
    typedef uint64_t taskhost_task;

    typedef int32_t taskhost_status;
    typedef int32_t taskhost_result;
    typedef int32_t taskhost_kind;
    typedef int32_t taskhost_stop_reason;
    typedef int32_t taskhost_log_level;

    /* taskhost_status: what a call answers. last_error() has a sentence for every one that is not OK. */
    enum {
      TASKHOST_OK = 0,
      TASKHOST_EINVAL = -1,       /* an argument is malformed: NULL, out of range, a bad struct_size, unknown bits */
      TASKHOST_ELAUNCHED = -2,    /* launch is over: registration is closed, from any thread, for ever */
      TASKHOST_EEXISTS = -3,      /* the identifier is another plugin's, or this is a second handler */
      TASKHOST_ENOTPERMITTED = -4, /* not in permitted_identifiers, or not in may_submit */
      TASKHOST_ESTALE = -5,       /* the run is over, or never was */
      TASKHOST_EEXPIRED = -6,     /* the run has expired */
      TASKHOST_ETOOBIG = -7,      /* over a limit in bytes; with a length argument: *length is what it needs */
      TASKHOST_ENOTFOUND = -8,    /* no such key, checkpoint or request */
      TASKHOST_EUNSUPPORTED = -9, /* this host does not offer that (yet) */
      TASKHOST_ELIMIT = -10,      /* a quota, cap or rate is used up */
      TASKHOST_EUNAVAILABLE = -11, /* the store is full or read-only, or the link to the host is lost */
      TASKHOST_EINTERNAL = -12    /* a defect in the host; please report it */
    };

    /* taskhost_result: what a handler returns. Any other value counts as FAILURE, with a message. */
    enum {
      TASKHOST_SUCCESS = 0, /* done */
      TASKHOST_NOOP = 1,    /* ran, there was nothing to do: a success the records tell apart */
      TASKHOST_SNOOZE = 2,  /* more to do: run again soon (or at retry_after); costs no attempt, grows no backoff */
      TASKHOST_RETRY = 3,   /* failed for now: backoff, one attempt spent */
      TASKHOST_FAILURE = 4  /* failed for good: no retry, dependants fail */
    };

    /* taskhost_kind: decides the default budget and grace. The clock starts when the handler starts. */
    enum {
      TASKHOST_REFRESH = 1,    /* budget 30 s, grace 5 s: short and frequent (BGAppRefreshTask) */
      TASKHOST_PROCESSING = 2, /* budget 10 min, grace 30 s: maintenance (BGProcessingTask) */
      TASKHOST_CONTINUED = 3   /* no budget; expires 60 s after `completed` last rose, grace 30 s: user-started work;
                                * one that is then stopped by force is not tried again */
    };

    /* taskhost_stop_reason: why a run was asked to stop. */
    enum {
      TASKHOST_STOP_NONE = 0,       /* it was not */
      TASKHOST_STOP_BUDGET = 1,     /* its time budget is spent */
      TASKHOST_STOP_CANCELLED = 2,  /* its request was cancelled */
      TASKHOST_STOP_CONDITIONS = 3, /* a condition it requires was lost */
      TASKHOST_STOP_DRAINING = 4,   /* the host is shutting down */
      TASKHOST_STOP_REPLACED = 5,   /* a newer request took its unique key */
      TASKHOST_STOP_STALLED = 6     /* continued: no progress for too long */
    };

    /* taskhost_log_level. */
    enum {
      TASKHOST_TRACE = 0,
      TASKHOST_DEBUG = 1,
      TASKHOST_INFO = 2,
      TASKHOST_NOTICE = 3,
      TASKHOST_WARNING = 4,
      TASKHOST_ERROR = 5
    };

    /* Bits of taskhost_request.conditions. An unknown bit is TASKHOST_EINVAL. */
    enum {
      TASKHOST_REQUIRES_NETWORK = 1,
      TASKHOST_REQUIRES_UNMETERED = 2,
      TASKHOST_REQUIRES_POWER = 4,
      TASKHOST_REQUIRES_IDLE = 8,
      TASKHOST_REQUIRES_BATTERY_NOT_LOW = 16,
      TASKHOST_REQUIRES_STORAGE_NOT_LOW = 32
    };

    /* taskhost_request.earliest_begin_unix_ms: not a time, but minimum_interval of the host's configuration after the identifier's
     * last run began; now where it has not run since the host was launched. For code that submits its own next request and
     * names no time for it, which would otherwise run back to back. */
    enum { TASKHOST_BEGIN_PACED = -1 };

    /* taskhost_request.on_conflict: what to do when a live request of the identifier holds the unique key. */
    enum {
      TASKHOST_CONFLICT_NONE = 0,    /* every submission is its own request */
      TASKHOST_CONFLICT_KEEP = 1,    /* keep the holder, drop this one (also while the holder runs) */
      TASKHOST_CONFLICT_REPLACE = 2, /* cancel the holder; this one starts only after a run of it has ended */
      TASKHOST_CONFLICT_UPDATE = 3,  /* keep the holder's id, give it this one's fields */
      TASKHOST_CONFLICT_APPEND = 4   /* run after the holder */
    };

    /* taskhost_submission.disposition: what a submission did. */
    enum {
      TASKHOST_CREATED = 0,
      TASKHOST_KEPT = 1,
      TASKHOST_REPLACED = 2,
      TASKHOST_UPDATED = 3,
      TASKHOST_APPENDED = 4
    };

    /*
     * A launch handler: does the work of one run and returns its result. The return is the completion: a
     * handler may start threads of its own but returns only when they are done. `context` is the
     * registration's, passed through untouched.
     */
    typedef taskhost_result (*taskhost_handler)(taskhost_task task, void *context);

    /*
     * Told once that the run must end, with the reason; grace_ms() says how long the handler still has.
     * Runs on a host thread that is not the run's, possibly at the same time as the handler. It should
     * return promptly; one that never returns does not hold back the run's outcome.
     */
    typedef void (*taskhost_expiration_handler)(taskhost_task task, taskhost_stop_reason reason, void *context);

    /* What register_handler takes. Copied before it returns. */
    typedef struct taskhost_registration {
      uint32_t struct_size;      /* sizeof(taskhost_registration) */
      taskhost_kind kind;        /* TASKHOST_REFRESH, _PROCESSING or _CONTINUED */
      const char *identifier;    /* 1-128 of A-Z a-z 0-9 . _ -, the first a letter or digit */
      taskhost_handler handler;  /* NULL only with `signature` */
      void *context;             /* given to the handler; must stay valid while the process lives */
      const char *display_name;  /* optional, UTF-8, for people; at most 256 bytes */
      const char *version;       /* optional, UTF-8, the plugin's own version; at most 64 bytes */
      uint64_t budget_ms;        /* 0: the kind's. May shorten it; only the operator's configuration lengthens */
      uint32_t max_concurrent_runs; /* 0: 1. At most 1024 */
      uint32_t reserved;         /* 0 */
      const char *signature;     /* optional: typed handler through libffi, instead of `handler` */
      void (*function)(void);    /* the function `signature` describes */
    } taskhost_registration;

    /* What submit and launch_submit take. Copied before they return. */
    typedef struct taskhost_request {
      uint32_t struct_size;           /* sizeof(taskhost_request) */
      uint32_t conditions;            /* TASKHOST_REQUIRES_ bits */
      const char *identifier;         /* whose handler: the plugin's own identifier, or one in its may_submit */
      const void *payload;            /* bytes, JSON by convention; NULL with length 0 */
      uint64_t payload_length;        /* at most 65,536 */
      int64_t earliest_begin_unix_ms; /* not before, milliseconds since 1970; 0: now; or TASKHOST_BEGIN_PACED */
      const char *unique_key;         /* optional, within the identifier; 1-256 bytes */
      uint32_t on_conflict;           /* TASKHOST_CONFLICT_ value; needs unique_key unless NONE */
      uint32_t reserved;              /* 0 */
    } taskhost_request;

    /* What submit answers. Set struct_size before the call. */
    typedef struct taskhost_submission {
      uint32_t struct_size;       /* sizeof(taskhost_submission) */
      uint32_t disposition;       /* TASKHOST_CREATED ... TASKHOST_APPENDED */
      int64_t next_start_unix_ms; /* the effective earliest start, milliseconds since 1970 */
      char request_id[40];        /* NUL-terminated; the holder's own where it was kept or updated */
    } taskhost_submission;

    /*
     * The host's functions. The table is read-only memory and lives as long as the process.
     * Statuses named at a function come on top of EINVAL (bad arguments) and ESTALE (run phase).
     */
    typedef struct taskhost_api {
      uint32_t struct_size; /* of the host's table: see TASKHOST_HAS */
      uint32_t abi_version; /* TASKHOST_ABI_VERSION of the host */

      /* ---- launch phase: any thread, until taskhost_plugin_launch returns ---- */

      /* Registers the plugin's handler. EEXISTS: a second handler, or another plugin's identifier (the first in
       * file-name order keeps it). ENOTPERMITTED: not in permitted_identifiers. ELAUNCHED: launch is over. */
      taskhost_status (*register_handler)(taskhost_launch launch, const taskhost_registration *registration);
      /* The plugin's `settings` as a JSON object, "{}" if there are none; NULL before the identifier is known
       * (register first) and after launch. Valid until taskhost_plugin_launch returns. */
      const char *(*configuration)(taskhost_launch launch);
      /* The plugin's own writable folder, an absolute path; NULL before the identifier is known and after launch. */
      const char *(*data_directory)(taskhost_launch launch);
      /* Submits a request that is held until launch has succeeded and then committed once; dropped in probes.
       * ELAUNCHED, ENOTPERMITTED, ETOOBIG, EUNSUPPORTED. */
      taskhost_status (*launch_submit)(taskhost_launch launch, const taskhost_request *request);
      /* A line in the host's log. At most 8 KiB (cut and marked); control bytes are escaped. */
      taskhost_status (*launch_log)(taskhost_launch launch, taskhost_log_level level, const char *message);

      /* ---- run phase: any thread, while the run is live ---- */

      /* The request's payload. *bytes is never NULL and has a 0 byte after its end that *length does not count. */
      taskhost_status (*payload)(taskhost_task task, const void **bytes, size_t *length);
      /* The identifier that runs. "" when stale, never NULL. */
      const char *(*identifier)(taskhost_task task);
      /* The request's id, the same over all its attempts. "" when stale, never NULL. */
      const char *(*request_id)(taskhost_task task);
      /* 1 on the first run, one more for each attempt spent. 0 when stale. */
      uint32_t (*attempt)(taskhost_task task);
      /* Milliseconds until expiration (continued: until it would count as stalled), on the monotonic clock;
       * 0 or less in grace. INT64_MIN when stale. */
      int64_t (*remaining_ms)(taskhost_task task);
      /* Milliseconds until the run is stopped by force; before expiration, the whole grace it would get. 0 when stale. */
      int64_t (*grace_ms)(taskhost_task task);
      /* 1 once the run has expired, else 0. 1 when stale. */
      int32_t (*is_expired)(taskhost_task task);
      /* Why it expired; TASKHOST_STOP_NONE while it has not, and when stale. */
      taskhost_stop_reason (*stop_reason)(taskhost_task task);
      /* A descriptor that becomes readable once the run has expired. Poll it only: never read, never close it.
       * Valid until the handler returns. -1 when stale. */
      int (*expiration_fd)(taskhost_task task);
      /* Sets the expiration handler; a second set before expiry replaces the first. EEXPIRED: it has expired
       * already and the handler will never be called, so either it is set or you are told.
       * handler NULL clears it and waits for a call in progress (not when called from inside it): OK means it
       * will never be called, EEXPIRED that it was and has returned. So a context on the run's stack is safe if
       * it is cleared before the handler returns. */
      taskhost_status (*set_expiration_handler)(taskhost_task task, taskhost_expiration_handler handler, void *context);
      /* Progress, for people and for stall detection. total 0: unknown. completed above total is recorded as total. */
      taskhost_status (*progress)(taskhost_task task, uint64_t completed, uint64_t total);
      /* A line in the run's log. At most 8 KiB (cut and marked); control bytes are escaped. A run that logs more than
       * 1,000 lines at once, or 100 a second for long, has lines dropped: they are counted, and the call is OK. */
      taskhost_status (*log)(taskhost_task task, taskhost_log_level level, const char *message);
      /* The run's output, the last call wins; at most 65,536 bytes (ETOOBIG). NULL, 0 clears it. */
      taskhost_status (*set_output)(taskhost_task task, const void *bytes, size_t length);
      /* Why it failed or retries, a sentence for the operator; the last call wins. At most 8 KiB (cut and marked). */
      taskhost_status (*set_message)(taskhost_task task, const char *message);
      /* For RETRY and SNOOZE: not before that many milliseconds from the run's end; wins over backoff. */
      taskhost_status (*retry_after)(taskhost_task task, uint64_t delay_ms);
      /* The host's wall clock, milliseconds since 1970; virtual under test. 0 when stale. */
      int64_t (*now_unix_ms)(taskhost_task task);
      /* Sleeps on the host's clock. Returns EEXPIRED at once when the run has expired, or as soon as it does. */
      taskhost_status (*sleep)(taskhost_task task, uint64_t ms);
      /* Reads a value of the identifier's durable state. ENOTFOUND: no such key. ETOOBIG: capacity is too small,
       * *length is what it needs and nothing was copied. buffer may be NULL with capacity 0. */
      taskhost_status (*state_get)(taskhost_task task, const char *key, void *buffer, size_t capacity, size_t *length);
      /* Writes a value; durable when it returns. NULL, 0 deletes. Key 1-256 bytes, value at most 1 MiB (ETOOBIG);
       * 10,000 keys and 64 MiB an identifier (ELIMIT). EUNAVAILABLE: not stored. */
      taskhost_status (*state_set)(taskhost_task task, const char *key, const void *bytes, size_t length);
      /* Where an earlier run of this request left off. ENOTFOUND: nowhere. ETOOBIG as state_get. */
      taskhost_status (*checkpoint_get)(taskhost_task task, void *buffer, size_t capacity, size_t *length);
      /* Records where this run is, at most 1 MiB; durable when it returns, gone when the request ends. */
      taskhost_status (*checkpoint_set)(taskhost_task task, const void *bytes, size_t length);
      /* Submits a request; durable when it returns. The third argument may be NULL. ENOTPERMITTED: an identifier
       * that is neither its own nor in its may_submit. ETOOBIG, ELIMIT, EUNSUPPORTED, EUNAVAILABLE. */
      taskhost_status (*submit)(taskhost_task task, const taskhost_request *request, taskhost_submission *submission);
      /* Cancels a request of an identifier it may submit to. ENOTFOUND: no such request, or it has ended. */
      taskhost_status (*cancel)(taskhost_task task, const char *request_id);

      /* ---- any time, any thread ---- */

      /* A sentence for this thread's last status that was not OK; "" if there was none. Valid until this thread's
       * next call of any function of this table. Never NULL. */
      const char *(*last_error)(void);
      /* A table of further functions, "org.taskhost.NAME/REV"; NULL where the host does not know it. Read-only memory
       * that lives as long as the process. This header describes TASKHOST_EXTENSION_REQUESTS
       * and TASKHOST_EXTENSION_OPEN_FILES. */
      const void *(*extension)(const char *id);
    } taskhost_api;

    /* Whether the host's table has a function that this header names. */
    #define TASKHOST_HAS(api, field) \
      ((api)->struct_size >= offsetof(taskhost_api, field) + sizeof((api)->field))

    /* ---- extension org.taskhost.requests/1: a plugin's own pending requests ---- */

    /* What extension() is asked for; the answer is a const taskhost_requests *. */
    #define TASKHOST_EXTENSION_REQUESTS "org.taskhost.requests/1"

    /* A request that waits for its run: not one that runs now, not one that has ended. */
    typedef struct taskhost_pending_request {
      uint32_t struct_size;           /* sizeof(taskhost_pending_request) as the host knows it */
      uint32_t conditions;            /* TASKHOST_REQUIRES_ bits */
      int64_t earliest_begin_unix_ms; /* as it was submitted, milliseconds since 1970; 0: at once */
      int64_t next_start_unix_ms;     /* the effective earliest start: after a retry, later than that */
      uint32_t attempt;               /* 1 while it has not run yet */
      taskhost_kind kind;             /* of its identifier's handler */
      const char *identifier;         /* valid during the visit */
      const char *request_id;         /* valid during the visit */
      const void *payload;            /* valid during the visit; never NULL, with a 0 byte after its end */
      uint64_t payload_length;        /* does not count that byte */
    } taskhost_pending_request;

    /* Called for one pending request after the other, on the thread that lists them, before the call returns.
     * It may copy what it is shown and call nothing of the host's. */
    typedef void (*taskhost_request_visitor)(const taskhost_pending_request *request, void *context);

    /* The requests of the identifiers that the plugin has registered, of each of them from the run of any. The request
     * that a `schedule` in the configuration stands for is the operator's: it is neither visited nor cancelled.
     * Statuses named at a function come on top of EINVAL, ESTALE (run phase), ELAUNCHED (launch phase), EUNAVAILABLE. */
    typedef struct taskhost_requests {
      uint32_t struct_size; /* of the host's table */
      uint32_t reserved;    /* 0 */

      /* ---- run phase: any thread, while the run is live ---- */

      /* Visits the pending requests, in the order of their submission; at most 1,000 of them. They are read a part at a
       * time: one that begins, ends or is submitted during the call may be visited or not. */
      taskhost_status (*list)(taskhost_task task, taskhost_request_visitor visit, void *context);
      /* Cancels the pending requests of one of the plugin's identifiers; a run in progress goes on. *count (may be
       * NULL): how many. ENOTPERMITTED: not an identifier of this plugin. Durable when it returns. */
      taskhost_status (*cancel_identifier)(taskhost_task task, const char *identifier, uint64_t *count);
      /* As cancel_identifier, for all identifiers of the plugin. */
      taskhost_status (*cancel_all)(taskhost_task task, uint64_t *count);

      /* ---- launch phase: any thread, until taskhost_plugin_launch returns ---- */

      /* Visits what is pending from before this launch; what the launch itself submits or cancels is not considered.
       * Nothing is before the host has settled that the plugin's identifiers are its own: it launches a plugin that asks
       * once more then. ENOTPERMITTED: the plugin has not registered yet. */
      taskhost_status (*launch_list)(taskhost_launch launch, taskhost_request_visitor visit, void *context);
      /* Cancels, once the launch has succeeded, the pending requests of an identifier the plugin has registered, NULL:
       * of all of them; held with what launch_submit holds and carried out in the order of the calls; dropped in probes.
       * ENOTPERMITTED: not registered (yet). ELIMIT: more than 1,000 submissions and cancellations. */
      taskhost_status (*launch_cancel)(taskhost_launch launch, const char *identifier);
    } taskhost_requests;

    /* ---- extension org.taskhost.open-files/1: who has a file open ---- */

    /* What extension() is asked for; the answer is a const taskhost_open_files *. */
    #define TASKHOST_EXTENSION_OPEN_FILES "org.taskhost.open-files/1"

    /* Files of one question, and bytes of their paths together, at most. */
    #define TASKHOST_OPEN_FILES_MAXIMUM 16384u
    #define TASKHOST_OPEN_FILES_PATH_BYTES 2097152u

    /* What is known of a file or directory. */
    enum {
      TASKHOST_USE_UNKNOWN = 0, /* the host cannot tell: it may be open */
      TASKHOST_USE_OPEN = 1,    /* open, mapped, locked or run by a process, or a directory that a process is in */
      TASKHOST_USE_NOT_OPEN = 2 /* nobody had it open when the host looked */
    };

    /* How far a directory is entitled, as bits. */
    enum { TASKHOST_ENTITLED_READ = 1, TASKHOST_ENTITLED_WRITE = 2 };

    /* A file or directory that is asked about: an element of an array, so it never grows. */
    typedef struct taskhost_file {
      uint64_t device;  /* st_dev */
      uint64_t inode;   /* st_ino */
      const char *path; /* relative to the question's directory, at most 4,095 bytes, any bytes but NUL; "." is the directory */
    } taskhost_file;

    /* A worker cannot see what other processes have open: its sandbox hides them. The host looks for it.
     * How: a look through /proc, which is complete for a host that root runs in the machine's own process namespace. Any
     * other host asks the kernel for a lease on each file that it did not find open, which tells for files that belong to
     * the host's user on a local file system; of other files, and of directories, it then answers UNKNOWN.
     * Not seen: descriptors on their way between processes or registered with io_uring, files that a file server in the
     * kernel has open, and other machines. An answer is about the moment of the look: whoever acts on it acts a moment
     * later, when the file may have been opened.
     * Statuses named at a function come on top of EINVAL, ESTALE (run phase), ELAUNCHED (launch phase). */
    typedef struct taskhost_open_files {
      uint32_t struct_size; /* of the host's table */
      uint32_t reserved;    /* 0 */

      /* Run phase, any thread. Writes one of TASKHOST_USE_ to uses[i] for files[i]. `directory` is absolute, without
       * symlinks, at or below a path of the plugin's entitlements `read` or `write` or its data directory (isolation =
       * "thread": anywhere). A file that is not reached from there by its path, through no symlink and no mount point, is
       * answered as one that nobody has open, or UNKNOWN: make sure that it is the same file before acting on it.
       * Blocks while the host looks; asks for as many files at once as there are, for a look costs the same for one.
       * ENOTPERMITTED: not an entitled directory. ENOTFOUND: no such directory. ETOOBIG: too many files or bytes of paths.
       * ELIMIT: too many questions wait for an answer. EUNAVAILABLE: the host cannot look. */
      taskhost_status (*query)(
          taskhost_task task, const char *directory, const taskhost_file *files, size_t count, uint8_t *uses);
      /* Launch phase, any thread. Writes to *entitled how far `directory` is entitled: TASKHOST_ENTITLED_ bits, 0 for not
       * at all. It need not exist. */
      taskhost_status (*launch_entitlement)(taskhost_launch launch, const char *directory, uint32_t *entitled);
    } taskhost_open_files;

    /* ---- what a plugin exports ---- */

    /* Read before anything is called. Must equal TASKHOST_ABI_VERSION. */
    extern TASKHOST_EXPORT const uint32_t taskhost_plugin_abi_version;
    /* Optional: how many handlers this plugin registers; absent: 1. Read before anything is called. */
    extern TASKHOST_EXPORT const uint32_t taskhost_plugin_handler_limit;
    /* Registers the handler. Anything but TASKHOST_OK refuses the plugin, with last_error() as the reason. */
    TASKHOST_EXPORT taskhost_status taskhost_plugin_launch(const taskhost_api *api, taskhost_launch launch);
    /* Optional: the process is about to end and no run is live. 5 s. */
    TASKHOST_EXPORT void taskhost_plugin_shutdown(void);
    /* Optional: serves the plugin's main queue and main run loop. Called once, in a worker process only, on its main
     * thread, after the launch; it does not return. The Swift SDK exports it. Absent: CFRunLoopRun, else dispatch_main,
     * is called, where the plugin or a library that it needs exports one. */
    TASKHOST_EXPORT void taskhost_plugin_serve_main_thread(void);

    /* ---- the note: what a plugin says of itself before any of its code runs ---- */

    /*
     * Optional. With a note the host knows whose settings, isolation and limits apply without launching the plugin in
     * a probe first, and `taskhost plugins inspect` shows it. Once, at file scope, in one file of the plugin:
     *
     *     TASKHOST_PLUGIN_NOTE("org.example.hello", "refresh", 0, "1.0.0");
     *
     * identifier, kind ("refresh", "processing" or "continued") and version are string literals, budget_ms is a number;
     * all as registered, else the plugin is refused: a version that is not registered is left out by using
     * TASKHOST_PLUGIN_NOTE_LINES. It is data of the section .note.taskhost, which the linker keeps and strip leaves alone.
     */
    #define TASKHOST_PLUGIN_NOTE(identifier, kind, budget_ms, version) \
      TASKHOST_PLUGIN_NOTE_LINES( \
          "identifier=" identifier "\nkind=" kind "\nbudget_ms=" TASKHOST_NOTE_TEXT(budget_ms) "\nversion=" version "\n")

    /* As TASKHOST_PLUGIN_NOTE, with the swift= line: the version of the compiler that built the plugin, a string literal. */
    #define TASKHOST_PLUGIN_NOTE_SWIFT(identifier, kind, budget_ms, version, swift) \
      TASKHOST_PLUGIN_NOTE_LINES( \
          "identifier=" identifier "\nkind=" kind "\nbudget_ms=" TASKHOST_NOTE_TEXT(budget_ms) "\nversion=" version "\nswift=" swift "\n")

    /* The lines as they are: identifier= is required; kind=, budget_ms=, version= and swift= are optional. */
    #define TASKHOST_PLUGIN_NOTE_LINES(lines) \
      static const struct taskhost_plugin_note_record { \
        uint32_t owner_bytes, lines_bytes, type; \
        char owner[12], text[(sizeof("format=1\nabi=1\n" lines) + 3u) / 4u * 4u]; \
      } taskhost_plugin_note TASKHOST_NOTE_PLACE = { \
        9u, (uint32_t)sizeof("format=1\nabi=1\n" lines), TASKHOST_NOTE_TYPE, TASKHOST_NOTE_OWNER, "format=1\nabi=1\n" lines}

    #define TASKHOST_NOTE_OWNER "taskhost"
    #define TASKHOST_NOTE_TYPE 0x54480001u
    #define TASKHOST_NOTE_TEXT(value) TASKHOST_NOTE_TEXT_OF(value)
    #define TASKHOST_NOTE_TEXT_OF(value) #value
    #if defined(__GNUC__)
    #define TASKHOST_NOTE_PLACE __attribute__((section(".note.taskhost"), used, aligned(4)))
    #else
    #define TASKHOST_NOTE_PLACE
    #endif

    /* ---- the layout, asserted ---- */

    #ifdef __cplusplus
    #define TASKHOST_STATIC_ASSERT(condition, message) static_assert(condition, message)
    #else
    #define TASKHOST_STATIC_ASSERT(condition, message) _Static_assert(condition, message)
    #endif

    TASKHOST_STATIC_ASSERT(sizeof(void *) == 8 && sizeof(size_t) == 8, "taskhost speaks LP64 only");
    TASKHOST_STATIC_ASSERT(sizeof(taskhost_registration) == 80, "taskhost_registration has no padding");
    TASKHOST_STATIC_ASSERT(offsetof(taskhost_registration, identifier) == 8, "taskhost_registration.identifier");
    TASKHOST_STATIC_ASSERT(offsetof(taskhost_registration, budget_ms) == 48, "taskhost_registration.budget_ms");
    TASKHOST_STATIC_ASSERT(offsetof(taskhost_registration, signature) == 64, "taskhost_registration.signature");
    TASKHOST_STATIC_ASSERT(offsetof(taskhost_registration, function) == 72, "taskhost_registration.function");
    TASKHOST_STATIC_ASSERT(sizeof(taskhost_request) == 56, "taskhost_request has no padding");
    TASKHOST_STATIC_ASSERT(offsetof(taskhost_request, identifier) == 8, "taskhost_request.identifier");
    TASKHOST_STATIC_ASSERT(offsetof(taskhost_request, earliest_begin_unix_ms) == 32, "taskhost_request.earliest_begin_unix_ms");
    TASKHOST_STATIC_ASSERT(offsetof(taskhost_request, on_conflict) == 48, "taskhost_request.on_conflict");
    TASKHOST_STATIC_ASSERT(sizeof(taskhost_submission) == 56, "taskhost_submission has no padding");
    TASKHOST_STATIC_ASSERT(offsetof(taskhost_submission, request_id) == 16, "taskhost_submission.request_id");
    TASKHOST_STATIC_ASSERT(offsetof(taskhost_api, register_handler) == 8, "taskhost_api.register_handler");
    TASKHOST_STATIC_ASSERT(offsetof(taskhost_api, payload) == 48, "taskhost_api.payload");
    TASKHOST_STATIC_ASSERT(offsetof(taskhost_api, extension) == 240, "taskhost_api.extension");
    TASKHOST_STATIC_ASSERT(sizeof(taskhost_api) == 248, "taskhost_api has no padding");
    TASKHOST_STATIC_ASSERT(sizeof(taskhost_pending_request) == 64, "taskhost_pending_request has no padding");
    TASKHOST_STATIC_ASSERT(offsetof(taskhost_pending_request, identifier) == 32, "taskhost_pending_request.identifier");
    TASKHOST_STATIC_ASSERT(sizeof(taskhost_requests) == 48, "taskhost_requests has no padding");
    TASKHOST_STATIC_ASSERT(sizeof(taskhost_file) == 24, "taskhost_file has no padding");
    TASKHOST_STATIC_ASSERT(sizeof(taskhost_open_files) == 24, "taskhost_open_files has no padding");

    #ifdef __cplusplus
    } /* extern "C" */
    #endif

    #endif /* TASKHOST_H */
    """#
}
