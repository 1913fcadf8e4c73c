"""Authlib's authorization server in Flask, with rotation; a second use of a refresh token revokes its family, as RFC 9700 §4.14 advises."""

import secrets
import threading
import time
from dataclasses import dataclass

from authlib.integrations.flask_oauth2 import AuthorizationServer
from authlib.oauth2.rfc6749 import ClientMixin, TokenMixin, grants
from common import serve
from flask import Flask, jsonify, request

lock = threading.Lock()
tokens = []


class Client(ClientMixin):
    client_id = "client"
    secret = "a client's secret"

    def get_client_id(self):
        return self.client_id

    def get_default_redirect_uri(self):
        return None

    def get_allowed_scope(self, scope):
        return scope

    def check_redirect_uri(self, _):
        return False

    def check_client_secret(self, client_secret):
        return secrets.compare_digest(client_secret, self.secret)

    def check_endpoint_auth_method(self, method, _):
        return method == "client_secret_basic"

    def check_response_type(self, _):
        return False

    def check_grant_type(self, grant_type):
        return grant_type == "refresh_token"


@dataclass
class Token(TokenMixin):
    access_token: str
    refresh_token: str
    family: str
    scope: str = "read"
    is_revoked: bool = False
    expires_at: float = 0

    def check_client(self, client):
        return client.client_id == Client.client_id

    def get_scope(self):
        return self.scope

    def get_expires_in(self):
        return 3600

    def is_expired(self):
        return self.expires_at < time.time()

    def is_revoked_(self):
        return self.is_revoked

    def get_user(self):
        return "ann"

    def get_client(self):
        return Client()


def issue(family):
    token = Token(secrets.token_urlsafe(24), secrets.token_urlsafe(24), family, expires_at=time.time() + 3600)
    tokens.append(token)
    return token


class RefreshTokenGrant(grants.RefreshTokenGrant):
    INCLUDE_NEW_REFRESH_TOKEN = True

    def authenticate_refresh_token(self, refresh_token):
        with lock:
            found = next((token for token in tokens if token.refresh_token == refresh_token), None)
            if found is None:
                return None
            if found.is_revoked:
                for token in tokens:
                    token.is_revoked = token.is_revoked or token.family == found.family
                return None
            return found

    def authenticate_user(self, credential):
        return "ann"

    def revoke_old_credential(self, credential):
        credential.is_revoked = True


def save_token(token, saved_request):
    with lock:
        family = saved_request.refresh_token.family
        tokens.append(Token(token["access_token"], token["refresh_token"], family, expires_at=time.time() + token["expires_in"]))


def make(address):
    app = Flask(__name__)
    app.config["OAUTH2_TOKEN_EXPIRES_IN"] = {"refresh_token": 3600}
    app.config["OAUTH2_REFRESH_TOKEN_GENERATOR"] = True
    server = AuthorizationServer(app, query_client=lambda name: Client() if name == Client.client_id else None, save_token=save_token)
    server.register_grant(RefreshTokenGrant)

    @app.post("/token")
    def token():
        return server.create_token_response()

    @app.get("/test/sign-in")
    def sign_in():
        with lock:
            token = issue(secrets.token_hex(8))
        return jsonify(access_token=token.access_token, refresh_token=token.refresh_token, expires_in=3600)

    @app.get("/test/whoami")
    def whoami():
        name = request.headers.get("Authorization", "").removeprefix("Bearer ")
        with lock:
            is_good = any(token.access_token == name and not token.is_revoked for token in tokens)
        return jsonify(user="ann") if is_good else (jsonify(), 401)

    return app, {
        "token_endpoint": address + "/token",
        "client_id": Client.client_id,
        "client_secret": Client.secret,
        "detects_reuse": True,
    }


serve(make)
