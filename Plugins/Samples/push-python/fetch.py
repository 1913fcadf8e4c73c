#!/usr/bin/env python3
"""Fetches a URL into a file if it has changed. The exit code says what came of it, as UIBackgroundFetchResult does on iOS:

    0    new data       recorded as a success
    1    no data        recorded as noop (exit_codes in taskhost.toml)
    75   failed         tried again after a backoff

    fetch.py URL FILE

See taskhost.toml beside this file.
"""

import http.client
import os
import sys
import urllib.error
import urllib.request


def fetch(url, path):
    """Returns whether there was something new."""
    request = urllib.request.Request(url)
    try:
        with open(path + ".etag", encoding="utf-8") as file:
            request.add_header("If-None-Match", file.read())
    except FileNotFoundError:
        pass
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            content, tag = answer.read(), answer.headers.get("ETag")
    except urllib.error.HTTPError as error:
        if error.code == 304:
            return False
        raise
    write(path, content)
    # The tag comes last: if the machine dies in between, the next fetch gets the same content again.
    write(path + ".etag", (tag or "").encode())
    return True


def write(path, content):
    with open(path + ".new", "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(path + ".new", path)


def main():
    try:
        is_new = fetch(sys.argv[1], sys.argv[2])
    except (OSError, http.client.HTTPException) as error:
        print(f"not fetched: {error}", file=sys.stderr)
        sys.exit(75)
    print("new data" if is_new else "no data")
    sys.exit(0 if is_new else 1)


if __name__ == "__main__":
    main()
