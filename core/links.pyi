"""What `core.links` offers; written by `plugrad stubs`, not by hand."""

from core.registry import Offer
from plugins.links.connection.convolution_2d import Convolution2D as Convolution2D
from plugins.links.connection.embed_id import EmbedID as EmbedID
from plugins.links.connection.linear import Linear as Linear
from plugins.links.model.classifier import Classifier as Classifier
from plugins.links.normalization.batch_normalization import BatchNormalization as BatchNormalization
from plugins.links.rnn.lstm import LSTM as LSTM
from plugins.links.rnn.lstm import StatelessLSTM as StatelessLSTM

def of(distribution: str) -> Offer: ...
