"""Canaille, an identity provider, on its backend in memory. It rotates refresh tokens, and refuses one that was used, without revoking others."""

import datetime
import logging
import secrets

import canaille
from canaille.app import models
from canaille.backends import Backend
from common import serve
from flask import jsonify, redirect
from joserfc.jwk import RSAKey


def now():
    return datetime.datetime.now(datetime.timezone.utc)


def make(address):
    host = address.removeprefix("http://")
    app = canaille.create_app(
        {
            "SECRET_KEY": "only for tests",
            "SERVER_NAME": host,
            "PREFERRED_URL_SCHEME": "http",
            "CANAILLE": {"DATABASE": "memory", "LOGGING": {"version": 1, "disable_existing_loggers": True}},
            "CANAILLE_OIDC": {
                "ACTIVE_JWKS": [RSAKey.generate_key(2048, {"kid": "k", "use": "sig"}).as_dict(private=True)],
            },
        }
    )
    logging.disable(logging.CRITICAL)
    with app.app_context():
        user = models.User(
            formatted_name="Ann", family_name="Ann", user_name="ann", emails=["ann@example.org"], password="correct horse"
        )
        Backend.instance.save(user)
        client = models.Client(
            client_id="client",
            client_secret="a client's secret",
            client_name="test",
            client_uri="https://example.org",
            redirect_uris=["https://example.org/"],
            grant_types=["authorization_code", "refresh_token"],
            response_types=["code"],
            scope=["openid", "profile"],
            token_endpoint_auth_method="client_secret_basic",
            client_id_issued_at=now(),
        )
        Backend.instance.save(client)
        client.audience = [client]
        Backend.instance.save(client)
        Backend.instance.save(
            models.Consent(consent_id="c", client=client, subject=user, scope=["openid", "profile"], issue_date=now())
        )

    @app.get("/test/sign-in")
    def sign_in():
        token = models.Token(
            token_id=secrets.token_hex(8),
            access_token=secrets.token_urlsafe(24),
            refresh_token=secrets.token_urlsafe(24),
            type="access_token",
            client=Backend.instance.get(models.Client, client_id="client"),
            subject=Backend.instance.get(models.User, user_name="ann"),
            audience=[Backend.instance.get(models.Client, client_id="client")],
            scope=["openid", "profile"],
            issue_date=now(),
            lifetime=3600,
        )
        Backend.instance.save(token)
        return jsonify(access_token=token.access_token, refresh_token=token.refresh_token, expires_in=3600)

    @app.get("/test/whoami")
    def whoami():
        return redirect("/oauth/userinfo", 307)

    return app, {
        "issuer": address,
        "client_id": "client",
        "client_secret": "a client's secret",
        "detects_reuse": False,
    }


serve(make)
