"""django-oauth-toolkit, with rotation of refresh tokens and detection of their reuse."""

import tempfile

import django
from django.conf import settings

folder = tempfile.TemporaryDirectory()
settings.configure(
    ALLOWED_HOSTS=["127.0.0.1"],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": folder.name + "/db", "OPTIONS": {"timeout": 30}}},
    INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "oauth2_provider"],
    LOGGING_CONFIG=None,
    MIDDLEWARE=[],
    OAUTH2_PROVIDER={
        "ACCESS_TOKEN_EXPIRE_SECONDS": 3600,
        "ROTATE_REFRESH_TOKEN": True,
        "REFRESH_TOKEN_GRACE_PERIOD_SECONDS": 0,
        "REFRESH_TOKEN_REUSE_PROTECTION": True,
    },
    ROOT_URLCONF=__name__,
    SECRET_KEY="only for tests",
    USE_TZ=True,
)
django.setup()

from datetime import timedelta  # noqa: E402
import secrets  # noqa: E402
import uuid  # noqa: E402

from common import serve  # noqa: E402
from django.contrib.auth.models import User  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.core.wsgi import get_wsgi_application  # noqa: E402
from django.http import JsonResponse  # noqa: E402
from django.urls import include, path  # noqa: E402
from django.utils import timezone  # noqa: E402
from oauth2_provider.models import AccessToken, Application, RefreshToken  # noqa: E402
from oauth2_provider.views.generic import ProtectedResourceView  # noqa: E402


def sign_in(_):
    application = Application.objects.get()
    user = User.objects.get()
    access = AccessToken.objects.create(
        user=user, application=application, token=secrets.token_urlsafe(24), scope="read",
        expires=timezone.now() + timedelta(hours=1),
    )
    refresh = RefreshToken.objects.create(
        user=user, application=application, token=secrets.token_urlsafe(24), access_token=access, token_family=uuid.uuid4()
    )
    return JsonResponse({"access_token": access.token, "refresh_token": refresh.token, "expires_in": 3600})


class WhoAmI(ProtectedResourceView):
    def get(self, request):
        return JsonResponse({"user": request.resource_owner.username})


class Guarded(WhoAmI):
    """ProtectedResourceView answers 403 for a token that it does not take."""

    def dispatch(self, request, *args, **kwargs):
        response = super().dispatch(request, *args, **kwargs)
        response.status_code = 401 if response.status_code == 403 else response.status_code
        return response


urlpatterns = [
    path("o/", include("oauth2_provider.urls", namespace="oauth2_provider")),
    path("test/sign-in", sign_in),
    path("test/whoami", Guarded.as_view()),
]


def make(address):
    call_command("migrate", verbosity=0)
    Application.objects.create(
        user=User.objects.create(username="ann"),
        name="test",
        client_id="client",
        client_secret="a client's secret",
        client_type=Application.CLIENT_CONFIDENTIAL,
        authorization_grant_type=Application.GRANT_AUTHORIZATION_CODE,
        redirect_uris="https://example.org/",
    )
    return get_wsgi_application(), {
        "token_endpoint": address + "/o/token/",
        "client_id": "client",
        "client_secret": "a client's secret",
        "detects_reuse": True,
    }


serve(make)
