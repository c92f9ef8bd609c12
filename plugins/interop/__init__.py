"""What other libraries have to be told of Variables; nothing of it is imported unasked."""

from plugins.interop.einops_backend import register_einops as register_einops
