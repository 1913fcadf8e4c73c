"""A client of a taskhost host for programs that are not plugins. One file, no dependencies, Python 3.9 or later.

    import taskhost_client

    host = taskhost_client.Host()                     # TASKHOST_SOCKET, or state/control.sock
    request = host.submit("com.example.report", {"day": "monday"}, tags=["nightly"])
    run = host.wait(request["id"], timeout=60)        # its last run; raises TaskFailed unless it succeeded
    print(run["output"])

    host.notify("orders-arrived", {"count": 3})       # wakes what waits for that event
    with host.hold("writing the index"):              # a host that drains waits for this block
        write_index()
    for event in host.follow():                       # everything that happens, as it happens
        print(event.name, event.data)

Objects are what the host's HTTP API says, as dictionaries: see Documentation/running-a-host.md. A Host may be used by several threads; each
call makes a connection of its own.
"""

import base64
import datetime
import http.client
import json
import os
import socket
import ssl
import time
import urllib.parse

__all__ = [
    "Host", "Event", "Assertion", "TaskHostError", "HostUnavailable", "Refused", "TaskFailed", "TaskCancelled", "WaitTimeout",
]

# The largest answer that is read, in bytes.
_ANSWER_BYTES = 256 * 1024 * 1024
# The largest line of the event stream, in bytes: an event has a payload of 1 MiB at most, and JSON may escape each byte with six.
_LINE_BYTES = 16 * 1024 * 1024
_FINAL_STATES = ("succeeded", "failed", "cancelled")
_FINAL_OUTCOMES = {"succeeded": "succeeded", "noop": "succeeded", "failed": "failed", "cancelled": "cancelled"}
# Outcomes that spend an attempt and leave the decision to the request.
_SPENDING = ("retried", "expired", "crashed")
_REPEATING = ("every_ms", "cron", "every_event")


class TaskHostError(Exception):
    """The root of this module's errors."""


class HostUnavailable(TaskHostError):
    """No host answers there, or it went away. What it acknowledged is stored: a request's id stays valid."""


class Refused(TaskHostError):
    """The host refused: `str(error)` says why and what to do.

    status: the HTTP status. code: a word such as "refused", "not_found", "invalid". field: the member that is wrong, or None.
    """

    def __init__(self, message, status, code=None, field=None):
        super().__init__(message)
        self.status, self.code, self.field = status, code, field


class TaskFailed(TaskHostError):
    """The request failed for good. request: its record. run: its last run, or None if it never ran."""

    def __init__(self, message, request, run):
        super().__init__(message)
        self.request, self.run = request, run


class TaskCancelled(TaskFailed):
    """Somebody cancelled the request."""


class WaitTimeout(TaskHostError, TimeoutError):
    """The time of `wait` or `follow` is over. The request goes on."""


class Event:
    """One event of the stream. name: "request", "run", "progress", "work", "log", "assertion", "missed". data: its JSON. id: its id."""

    __slots__ = ("name", "data", "id")

    def __init__(self, name, data, id):
        self.name, self.data, self.id = name, data, id

    def __repr__(self):
        return "Event(%r, %r)" % (self.name, self.data)


class Host:
    """A host, by its control socket, or by a URL with a token.

    socket: the path of its control socket. By default the variable TASKHOST_SOCKET, then state/control.sock.
    url: "http://HOST:PORT" or "https://HOST:PORT" of a host that listens on TCP, instead of the socket.
    token: the bearer token for `url`. By default the variable TASKHOST_TOKEN.
    timeout: how many seconds to wait for an answer.
    cafile: a file of certificates in PEM, one of which the host's certificate under an https URL must come from. By default those of the system.
    """

    def __init__(self, socket=None, url=None, token=None, timeout=60.0, cafile=None):
        if socket and url:
            raise ValueError("give a socket or a url, not both")
        self._timeout = timeout
        self._url = urllib.parse.urlsplit(url) if url else None
        if self._url and (self._url.scheme not in ("http", "https") or not self._url.hostname):
            raise ValueError("url: must be http://HOST:PORT or https://HOST:PORT")
        self._tls = None
        if self._url and self._url.scheme == "https":
            # Checks the host's certificate and its name.
            self._tls = ssl.create_default_context(cafile=cafile)
            self._tls.minimum_version = ssl.TLSVersion.TLSv1_2
        elif cafile:
            raise ValueError("cafile: it is for a URL that begins with https://")
        self._socket = None if url else socket or os.environ.get("TASKHOST_SOCKET") or "state/control.sock"
        self._token = (token or os.environ.get("TASKHOST_TOKEN")) if url else None

    def submit(self, identifier, payload=None, **fields):
        """Submits a request. Returns its receipt: "id", "disposition" ("created", "kept", "replaced", "updated"), "next_start", "notes".

        payload: anything that JSON can say, or bytes, which the handler gets unchanged. None: no payload.
        fields: the other members of POST /v1/requests, by their names: delay_ms, earliest_begin, deadline, every_ms, cron, time_zone, tags,
        priority, conditions, unique_key, on_conflict, idempotency_key, after, retry, event, … A timedelta is accepted for a member whose
        name ends with _ms, a datetime with a zone for a moment.

        The request is stored when this returns. Without an idempotency_key, a HostUnavailable leaves open whether it was.
        """
        body = {"identifier": identifier}
        if isinstance(payload, (bytes, bytearray, memoryview)):
            body["payload_base64"] = base64.b64encode(payload).decode("ascii")
        elif payload is not None:
            body["payload"] = payload
        for name, value in fields.items():
            body[name] = _value(name, value)
        return self.call("POST", "/v1/requests", body)

    def request(self, id):
        """The record of a request."""
        return self.call("GET", "/v1/requests/" + _escape(id))

    def requests(self, filter=None, **query):
        """The requests that a filter selects, such as "state:failed tag:nightly", as an iterator over all pages."""
        return self._pages("/v1/requests", "requests", dict(query, filter=filter))

    def runs(self, filter=None, **query):
        """The runs that a filter selects, or those of one request (request=ID), the newest first, as an iterator over all pages."""
        return self._pages("/v1/runs", "runs", dict(query, filter=filter))

    def run(self, id):
        """The record of a run, with its output."""
        return self.call("GET", "/v1/runs/" + _escape(id))

    def why(self, id):
        """Why a request has not run yet, as data with sentences."""
        return self.call("GET", "/v1/requests/%s/why" % _escape(id))

    def cancel(self, id):
        """Cancels a request. Its live run gets the expiration handler. Returns the record."""
        return self.call("DELETE", "/v1/requests/" + _escape(id))

    def retry(self, id):
        """Runs a request again that has failed for good. Returns the record."""
        return self.call("POST", "/v1/requests/%s/retry" % _escape(id))

    def notify(self, event, payload=None):
        """Raises an event: wakes the requests that wait for it. Returns how many: "woken", "merged", "dropped", "waiting"."""
        return self.call("POST", "/v1/events/" + _escape(event), None if payload is None else {"payload": payload})

    def status(self):
        """What `taskhost status --json` shows."""
        return self.call("GET", "/v1/status")

    def submit_and_wait(self, identifier, payload=None, timeout=None, **fields):
        """Submits a request, and waits as `wait` does. It misses no occurrence of a repeating request: it listens before it submits."""
        with _Stream(self, {}, timeout) as events:
            receipt = self.submit(identifier, payload, **fields)
            existed = bool(receipt.get("repeated")) or receipt["disposition"] != "created"
            return self._wait(events, receipt["id"], existed)

    def wait(self, id, timeout=None):
        """Waits until a request has succeeded, and returns its last run; of a repeating request, the run of the next occurrence that ends.

        timeout: the most seconds to wait; None: without a limit.
        Raises TaskFailed, TaskCancelled, WaitTimeout; HostUnavailable if the host goes away: call it again when the host is back.
        """
        with _Stream(self, {"request": id}, timeout) as events:
            return self._wait(events, id, True)

    def _wait(self, events, id, existed):
        try:
            return self._ended(events, id, existed)
        except HostUnavailable as error:
            raise HostUnavailable("%s (%s is stored: wait again when the host is back)" % (error, id)) from error

    def _ended(self, events, id, existed):
        # The stream is open: what happens from now on is in it, and what happened before is in the record.
        record = self.request(id)
        repeats = any(record.get(name) for name in _REPEATING)
        last, open_outcome = None, None
        if existed or not repeats:
            if record["state"] in _FINAL_STATES:
                return self._ending(record["state"], id, None)
        for event in events:
            if event.name == "missed":
                record = self.request(id)
                runs = self.runs(request=id, limit=1)
                last = next(runs, None)
                if record["state"] in _FINAL_STATES:
                    return self._ending(record["state"], id, None)
                if repeats and last and last.get("outcome") in _FINAL_OUTCOMES:
                    return self._ending(_FINAL_OUTCOMES[last["outcome"]], id, last["id"])
            elif event.name == "run" and event.data["request"] == id:
                last = event.data
                outcome = last.get("outcome")
                if repeats and outcome in _FINAL_OUTCOMES:
                    return self._ending(_FINAL_OUTCOMES[outcome], id, last["id"])
                open_outcome = outcome
            elif event.name == "request" and event.data["id"] == id:
                record = event.data
                if record["state"] in _FINAL_STATES:
                    return self._ending(record["state"], id, None)
                if repeats and record["state"] == "pending" and open_outcome:
                    # An occurrence that has spent its attempts is over: the next one begins with none spent.
                    spent = open_outcome in _SPENDING and not record["attempts_spent"]
                    if spent or open_outcome == "lost" and not record["losses"]:
                        return self._ending("failed", id, last["id"])
                    open_outcome = None
        raise HostUnavailable("%s: the host went away" % self)

    def follow(self, request=None, last_event_id=None, timeout=None):
        """The events of the host, or of one request, as an iterator that ends with the host.

        last_event_id: an Event.id of before: the events since then come first, as far as the host still has them. After an event "missed", ask
        for the present state.
        timeout: raise WaitTimeout after so many seconds; None: no limit.
        """
        with _Stream(self, {"request": request}, timeout, last_event_id) as events:
            yield from events

    def hold(self, reason, seconds=30.0, name=None):
        """Takes an execution assertion: a host that drains waits until it is given back. Use it with `with`.

        seconds: the longest that the host waits, 600 at most. It ends with this process, too.
        name: who holds the host; by default the name of the program.
        """
        import sys

        body = {
            "name": name or os.path.basename(sys.argv[0] or "python"), "reason": reason, "for_ms": int(seconds * 1000),
        }
        if self._socket:
            body["process_id"] = os.getpid()
        return Assertion(self, self.call("POST", "/v1/assertions", body))

    def call(self, method, path, body=None):
        """Any other call of the API: returns its JSON. Raises Refused, HostUnavailable."""
        connection = self._connection(self._timeout)
        try:
            try:
                response = self._send(connection, method, path, body)
                data = response.read(_ANSWER_BYTES + 1)
            except (OSError, http.client.HTTPException) as error:
                raise self._unavailable(error) from error
            if len(data) > _ANSWER_BYTES:
                raise HostUnavailable("%s: its answer is too large" % self)
            return self._answer(response.status, data)
        finally:
            connection.close()

    def __str__(self):
        return self._socket or self._url.geturl()

    def _pages(self, path, name, query):
        while True:
            page = self.call("GET", _path(path, query))
            yield from page[name]
            cursor = page.get("next")
            if not cursor:
                return
            query = dict(query, after=cursor)

    def _ending(self, state, id, run):
        record = self.request(id)
        if run is None:
            run = next((one["id"] for one in self.runs(request=id, limit=1)), None)
        # Neither a listing nor an event is guaranteed to have the unchanged output.
        run = self.run(run) if run else None
        if state == "succeeded":
            return run
        message = (run or {}).get("message") or record.get("last_message") or (run or {}).get("outcome") or "it did not run"
        if state == "cancelled":
            raise TaskCancelled("%s was cancelled: %s" % (id, message), record, run)
        raise TaskFailed("%s failed: %s" % (id, message), record, run)

    def _connection(self, timeout):
        if self._socket:
            return _UnixConnection(self._socket, timeout)
        if self._tls:
            return http.client.HTTPSConnection(self._url.hostname, self._url.port, timeout=timeout, context=self._tls)
        return http.client.HTTPConnection(self._url.hostname, self._url.port, timeout=timeout)

    def _send(self, connection, method, path, body=None, headers=()):
        headers = dict(headers)
        if self._token:
            headers["Authorization"] = "Bearer " + self._token
        data = None
        if body is not None:
            # A NaN is no JSON: it is an error here, not at the host.
            data = json.dumps(body, allow_nan=False).encode("utf-8")
            headers["Content-Type"] = "application/json"
        connection.request(method, path, body=data, headers=headers)
        return connection.getresponse()

    def _answer(self, status, data):
        try:
            answer = json.loads(data) if data else None
        except ValueError:
            raise HostUnavailable("%s: the answer is not JSON: does it belong to a host?" % self) from None
        if 200 <= status < 300:
            return answer
        error = answer.get("error") if isinstance(answer, dict) else None
        if not isinstance(error, dict):
            error = {}
        raise Refused(error.get("message") or "the host answered with HTTP status %d" % status, status, error.get("code"), error.get("field"))

    def _unavailable(self, error):
        return HostUnavailable("%s: no host answers there: %s" % (self, error))


class Assertion:
    """An execution assertion. `with` gives it back at the end of the block. record: what the host answered."""

    def __init__(self, host, record):
        self._host, self.record = host, record
        self._deadline = time.monotonic() + record["remaining_ms"] / 1000

    @property
    def remaining(self):
        """How many seconds the host still waits; 0 when it has expired."""
        return max(0.0, self._deadline - time.monotonic())

    def give_back(self):
        """Gives it back. Returns False if it had ended before: its time was over, or the host went away."""
        try:
            self._host.call("DELETE", "/v1/assertions/" + _escape(self.record["id"]))
            return True
        except Refused as error:
            if error.status in (404, 409):
                return False
            raise
        except HostUnavailable:
            return False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.give_back()


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


class _Stream:
    """A subscription: open when `with` begins its block, an iterator of events."""

    def __init__(self, host, query, timeout, last_event_id=None):
        self._host, self._query, self._last = host, query, last_event_id
        self._deadline = None if timeout is None else time.monotonic() + timeout
        self._connection = self._response = self._raw = None

    def __enter__(self):
        host = self._host
        self._connection = host._connection(self._left(host._timeout))
        headers = {"Last-Event-ID": self._last} if self._last else {}
        try:
            try:
                # http.client forgets the socket when an answer has no length.
                self._connection.connect()
                self._raw = self._connection.sock
                self._response = host._send(self._connection, "GET", _path("/v1/stream", self._query), headers=headers)
                if self._response.status != 200:
                    host._answer(self._response.status, self._response.read(65536))
                # The host's first line says that the subscription has begun.
                while self._line() not in (b"", None):
                    pass
            except (OSError, http.client.HTTPException) as error:
                if isinstance(error, socket.timeout) and self._deadline is not None:
                    raise WaitTimeout("the time is over") from None
                raise host._unavailable(error) from error
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if self._response is not None:
            self._response.close()
        self._connection.close()

    def __iter__(self):
        name, id, data = "message", None, []
        while True:
            try:
                line = self._line()
            except socket.timeout:
                raise WaitTimeout("the time is over") from None
            except (OSError, http.client.HTTPException):
                return
            if line is None:
                return
            if not line:
                if data:
                    yield Event(name, json.loads("\n".join(data)), id)
                name, data = "message", []
                continue
            field, _, value = line.decode("utf-8", "replace").partition(":")
            value = value[1:] if value.startswith(" ") else value
            if field == "event":
                name = value
            elif field == "data":
                data.append(value)
            elif field == "id":
                id = value

    def _line(self):
        """The next line without its end; None at the end of the stream."""
        self._raw.settimeout(self._left(None))
        line = self._response.readline(_LINE_BYTES)
        if not line.endswith(b"\n"):
            if len(line) >= _LINE_BYTES:
                raise http.client.HTTPException("a line of the stream is too long")
            return None
        return line.rstrip(b"\r\n")

    def _left(self, otherwise):
        if self._deadline is None:
            return otherwise
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise WaitTimeout("the time is over")
        return left


def _value(name, value):
    if isinstance(value, datetime.timedelta):
        if not name.endswith("_ms"):
            raise ValueError("%s: a timedelta fits members whose names end with _ms" % name)
        return value // datetime.timedelta(milliseconds=1)
    if isinstance(value, datetime.datetime):
        if value.tzinfo is None:
            raise ValueError("%s: this datetime has no zone: use datetime.now(timezone.utc) or .astimezone()" % name)
        return value.astimezone(datetime.timezone.utc).isoformat().replace("+00:00", "Z")
    return value


def _escape(text):
    return urllib.parse.quote(text, safe="")


def _path(path, query):
    parts = {name: value for name, value in query.items() if value is not None}
    return path + ("?" + urllib.parse.urlencode(parts, quote_via=urllib.parse.quote) if parts else "")
