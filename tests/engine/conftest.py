"""What tests of the engine share: the forms that an op can be written in."""

import pytest
from samples import FORMS


@pytest.fixture(params=FORMS.values(), ids=FORMS)
def form(request):
    return request.param
