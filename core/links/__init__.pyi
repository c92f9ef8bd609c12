"""What `core.links` offers; written by `plugrad stubs`, not by hand."""

from core.registry import Offer
from plugins.imported.caffe import CaffeFunction as CaffeFunction
from plugins.imported.onnx_model import ONNXModel as ONNXModel
from plugins.links.activation.functions import ELU as ELU
from plugins.links.activation.functions import GELU as GELU
from plugins.links.activation.functions import SELU as SELU
from plugins.links.activation.functions import ClippedReLU as ClippedReLU
from plugins.links.activation.functions import HardSigmoid as HardSigmoid
from plugins.links.activation.functions import LeakyReLU as LeakyReLU
from plugins.links.activation.functions import LogSoftmax as LogSoftmax
from plugins.links.activation.functions import ReLU as ReLU
from plugins.links.activation.functions import Sigmoid as Sigmoid
from plugins.links.activation.functions import SiLU as SiLU
from plugins.links.activation.functions import Softmax as Softmax
from plugins.links.activation.functions import Softplus as Softplus
from plugins.links.activation.functions import Tanh as Tanh
from plugins.links.activation.maxout import Maxout as Maxout
from plugins.links.activation.prelu import PReLU as PReLU
from plugins.links.activation.simplified_dropconnect import (
    SimplifiedDropconnect as SimplifiedDropconnect,
)
from plugins.links.activation.swish import Swish as Swish
from plugins.links.array.flatten import Flatten as Flatten
from plugins.links.attention.multi_head_attention import MultiHeadAttention as MultiHeadAttention
from plugins.links.attention.transformer_block import TransformerBlock as TransformerBlock
from plugins.links.connection.bias import Bias as Bias
from plugins.links.connection.bilinear import Bilinear as Bilinear
from plugins.links.connection.convolution import Convolution1D as Convolution1D
from plugins.links.connection.convolution import Convolution2D as Convolution2D
from plugins.links.connection.convolution import Convolution3D as Convolution3D
from plugins.links.connection.convolution import ConvolutionND as ConvolutionND
from plugins.links.connection.deconvolution import Deconvolution1D as Deconvolution1D
from plugins.links.connection.deconvolution import Deconvolution2D as Deconvolution2D
from plugins.links.connection.deconvolution import Deconvolution3D as Deconvolution3D
from plugins.links.connection.deconvolution import DeconvolutionND as DeconvolutionND
from plugins.links.connection.deformable_convolution_2d import (
    DeformableConvolution2D as DeformableConvolution2D,
)
from plugins.links.connection.depthwise_convolution_2d import (
    DepthwiseConvolution2D as DepthwiseConvolution2D,
)
from plugins.links.connection.dilated_convolution_2d import (
    DilatedConvolution2D as DilatedConvolution2D,
)
from plugins.links.connection.embed_id import EmbedID as EmbedID
from plugins.links.connection.highway import Highway as Highway
from plugins.links.connection.inception import Inception as Inception
from plugins.links.connection.inceptionbn import InceptionBN as InceptionBN
from plugins.links.connection.linear import Linear as Linear
from plugins.links.connection.local_convolution_2d import LocalConvolution2D as LocalConvolution2D
from plugins.links.connection.mlp_convolution_2d import MLPConvolution2D as MLPConvolution2D
from plugins.links.connection.parameter import Parameter as Parameter
from plugins.links.connection.scale import Scale as Scale
from plugins.links.loss.black_out import BlackOut as BlackOut
from plugins.links.loss.crf1d import CRF1d as CRF1d
from plugins.links.loss.hierarchical_softmax import (
    BinaryHierarchicalSoftmax as BinaryHierarchicalSoftmax,
)
from plugins.links.loss.negative_sampling import NegativeSampling as NegativeSampling
from plugins.links.model.classifier import Classifier as Classifier
from plugins.links.model.vision.googlenet import GoogLeNet as GoogLeNet
from plugins.links.model.vision.resnet import BottleneckA as BottleneckA
from plugins.links.model.vision.resnet import BottleneckB as BottleneckB
from plugins.links.model.vision.resnet import BuildingBlock as BuildingBlock
from plugins.links.model.vision.resnet import ResNet50Layers as ResNet50Layers
from plugins.links.model.vision.resnet import ResNet101Layers as ResNet101Layers
from plugins.links.model.vision.resnet import ResNet152Layers as ResNet152Layers
from plugins.links.model.vision.resnet import ResNetLayers as ResNetLayers
from plugins.links.model.vision.vgg import VGG16Layers as VGG16Layers
from plugins.links.model.vision.vgg import VGG19Layers as VGG19Layers
from plugins.links.model.vision.vgg import VGGLayers as VGGLayers
from plugins.links.noise.dropout import Dropout as Dropout
from plugins.links.normalization.batch_normalization import BatchNormalization as BatchNormalization
from plugins.links.normalization.batch_renormalization import (
    BatchRenormalization as BatchRenormalization,
)
from plugins.links.normalization.decorrelated_batch_normalization import (
    DecorrelatedBatchNormalization as DecorrelatedBatchNormalization,
)
from plugins.links.normalization.group_normalization import GroupNormalization as GroupNormalization
from plugins.links.normalization.layer_normalization import LayerNormalization as LayerNormalization
from plugins.links.normalization.rms_normalization import RMSNormalization as RMSNormalization
from plugins.links.pooling.pooling_2d import AveragePooling2D as AveragePooling2D
from plugins.links.pooling.pooling_2d import MaxPooling2D as MaxPooling2D
from plugins.links.rnn.gru import GRU as GRU
from plugins.links.rnn.gru import StatefulGRU as StatefulGRU
from plugins.links.rnn.gru import StatelessGRU as StatelessGRU
from plugins.links.rnn.lstm import LSTM as LSTM
from plugins.links.rnn.lstm import StatelessLSTM as StatelessLSTM
from plugins.links.rnn.mgu import StatefulMGU as StatefulMGU
from plugins.links.rnn.mgu import StatelessMGU as StatelessMGU
from plugins.links.rnn.n_step_gru import NStepBiGRU as NStepBiGRU
from plugins.links.rnn.n_step_gru import NStepGRU as NStepGRU
from plugins.links.rnn.n_step_lstm import NStepBiLSTM as NStepBiLSTM
from plugins.links.rnn.n_step_lstm import NStepLSTM as NStepLSTM
from plugins.links.rnn.n_step_rnn import NStepBiRNNReLU as NStepBiRNNReLU
from plugins.links.rnn.n_step_rnn import NStepBiRNNTanh as NStepBiRNNTanh
from plugins.links.rnn.n_step_rnn import NStepRNNReLU as NStepRNNReLU
from plugins.links.rnn.n_step_rnn import NStepRNNTanh as NStepRNNTanh
from plugins.links.rnn.peephole import StatefulPeepholeLSTM as StatefulPeepholeLSTM
from plugins.links.rnn.tree_lstm import ChildSumTreeLSTM as ChildSumTreeLSTM
from plugins.links.rnn.tree_lstm import NaryTreeLSTM as NaryTreeLSTM
from plugins.links.rnn.zoneoutlstm import StatefulZoneoutLSTM as StatefulZoneoutLSTM

def of(distribution: str) -> Offer: ...
