"""A model as programs of versions 1 to 7 write it; the pickles beside this file name its class."""

import chainer
import chainer.functions as F
import chainer.links as L


class Net(chainer.Chain):
    """A little of everything: convolution, statistics, embedding, a recurrent layer, a list."""

    def __init__(self):
        super().__init__(
            conv=L.Convolution2D(2, 3, 3, stride=2, pad=1),
            norm=L.BatchNormalization(3),
            embed=L.EmbedID(5, 3, ignore_label=-1),
            recurrent=L.LSTM(3, 4),
            layers=chainer.ChainList(L.Linear(4, 4), L.Linear(4, 2)),
        )
        self.note = {"seen": [1, 2]}

    def __call__(self, x, words):
        self.recurrent.reset_state()
        h = F.max(F.max(F.relu(self.norm(self.conv(x))), axis=3), axis=2)
        h = self.recurrent(h + self.embed(words))
        for layer in self.layers.children():
            h = layer(F.tanh(h))
        return h
