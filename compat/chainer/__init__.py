"""Chainer's import name, on plugrad: see the documentation of plugrad, "Programs for Chainer"."""

from plugrad_chainer.install import install

install(__name__)
